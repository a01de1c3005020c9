import type { Kind, Parsed } from './kinds.ts';

export interface RedisNode {
  readonly host: string;
  readonly port: number;
}

/** The address of a store, and our users there. */
export interface RedisAddress {
  readonly mode: 'standalone' | 'sentinel' | 'cluster';
  /** The server, the sentinels, or some nodes of the cluster, which name the others. */
  readonly nodes: readonly RedisNode[];
  /** The name under which the sentinels know the primary; '' without sentinels. */
  readonly master: string;
  /** Always 0 in a cluster. */
  readonly db: number;
  readonly tls: boolean;
  readonly user: Credentials;
  /** The sentinels' own user. */
  readonly sentinelUser: Credentials;
}

/** A user of a store. Read it only when it is needed, because it may come from a file that changes. */
export interface Credentials {
  readonly username: string | null;
  readonly password: string | null;
}

const NOBODY: Credentials = { username: null, password: null };
const SENTINEL_PORT = 26_379;
const REDIS_PORT = 6_379;

/** Scheme, user info, hosts, path and query. Special characters inside a part are percent-encoded. */
const URL_PARTS = /^(rediss?)(\+sentinel)?:\/\/(?:([^@/?#]*)@)?([^@/?#]+)(?:\/([^?#]*))?(?:\?([^#]*))?$/;
const HOST = /^(?:\[([\da-f:]+)\]|([\w.-]+))(?::(\d{1,5}))?$/i;

/** Advice for a text with user info, because any part of it may be a piece of a password that was not encoded. */
const ENCODE =
  'in its user name and password percent-encode what is not a letter, a digit or one of - . _ ~, or set them by themselves (..._USERNAME, ..._PASSWORD)';

const NO_DATABASE = 'names a database: a cluster has only number 0';

class Malformed extends Error {}

function nodeOf(text: string, defaultPort: number): RedisNode {
  const match = HOST.exec(text.trim());
  const port = Number(match?.[3] ?? defaultPort);
  const host = match?.[1] ?? match?.[2];
  if (host === undefined || port < 1 || port > 65_535) throw new Malformed('names a malformed host or port');
  return { host, port };
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new Malformed('has a malformed percent-encoding');
  }
}

/** Parses `user:password`, `:password` or `user`. */
function credentialsOf(text: string | undefined): Credentials {
  if (!text) return NOBODY;
  const [username = '', ...rest] = text.split(':');
  return { username: decode(username) || null, password: rest.length > 0 ? decode(rest.join(':')) : null };
}

function dbOf(text: string): number {
  if (!/^\d{0,4}$/.test(text)) throw new Malformed('names a database that is not a number');
  return Number(text);
}

/**
 * Parses the query. A plus sign is itself: the query comes from no form, and base64 has plus signs. An unknown name is not
 * repeated, because it may be the end of a password with an ampersand.
 */
function queryOf(text: string | undefined, allowed: readonly string[]): Map<string, string> {
  if (text?.includes('@')) throw new Malformed('is cut at a question mark before its last @');
  const parts = text ? text.split('&') : [];
  const query = new Map(parts.map((part) => [part.split('=', 1)[0] ?? '', decode(part.replace(/^[^=]*=?/, ''))]));
  if ([...query.keys()].every((name) => allowed.includes(name))) return query;
  const takes = allowed.length > 0 ? `it takes ${allowed.join(', ')}` : 'it takes none';
  throw new Malformed(`has an unknown parameter after its question mark (${takes})`);
}

function sentinelAddress([, scheme, , user, hosts = '', path = '', search]: RegExpExecArray): RedisAddress {
  const query = queryOf(search, ['db', 'sentinel_username', 'sentinel_password']);
  const master = decode(path);
  if (!/^[\w.-]+$/.test(master)) throw new Malformed('must end with the name of the primary: .../mymaster');
  return {
    mode: 'sentinel',
    nodes: hosts.split(',').map((host) => nodeOf(host, SENTINEL_PORT)),
    master,
    db: dbOf(query.get('db') ?? ''),
    tls: scheme === 'rediss',
    user: credentialsOf(user),
    sentinelUser: {
      username: query.get('sentinel_username') || null,
      password: query.get('sentinel_password') || null,
    },
  };
}

/** Parses one URL, or several nodes: each a URL, or after the first only `host:port`. They share user, TLS and database. */
function nodesAddress(text: string): RedisAddress {
  const [first = '', ...others] = text.split(',').map((part) => part.trim());
  const head = URL_PARTS.exec(first);
  if (head === null) throw new Malformed('must be a redis:// or rediss:// URL');
  const [, scheme, , user, host = '', path = '', search] = head;
  queryOf(search, []);
  const nodes = [nodeOf(host, REDIS_PORT)];
  for (const other of others) {
    const parts = URL_PARTS.exec(other.includes('://') ? other : `${scheme}://${other}`);
    if (parts === null || parts[2] !== undefined) throw new Malformed('lists something that is not a node');
    const differs = parts[1] !== scheme || (parts[3] ?? user) !== user || (parts[5] ?? path) !== path || parts[6];
    if (differs) throw new Malformed('lists nodes that differ in more than host and port');
    nodes.push(nodeOf(parts[4] ?? '', REDIS_PORT));
  }
  const db = dbOf(path);
  if (nodes.length > 1 && db !== 0) throw new Malformed(NO_DATABASE);
  return {
    mode: nodes.length > 1 ? 'cluster' : 'standalone',
    nodes,
    master: '',
    db,
    tls: scheme === 'rediss',
    user: credentialsOf(user),
    sentinelUser: NOBODY,
  };
}

/**
 * Parses `redis://user:password@host:port/db`, with TLS `rediss://`; `redis+sentinel://user:password@host,host,host/master`;
 * or comma-separated nodes of a cluster. The mode follows from the form of the text, and `withMode` compares it with the
 * mode that was asked for.
 */
export const redisAddress: Kind<RedisAddress> = (text): Parsed<RedisAddress> => {
  try {
    const whole = URL_PARTS.exec(text);
    return { value: whole?.[2] ? sentinelAddress(whole) : nodesAddress(text) };
  } catch (error) {
    if (error instanceof Malformed)
      return { problem: /@|sentinel_/.test(text) ? `${error.message}: ${ENCODE}` : error.message };
    throw error;
  }
};

/** Returns the address in the mode that was asked for (null for none), or the key with its problem. */
export function withMode(
  address: RedisAddress,
  asked: RedisAddress['mode'] | null,
): { value: RedisAddress } | { key: 'url' | 'mode'; problem: string } {
  if (asked === null || asked === address.mode) return { value: address };
  if (address.mode === 'cluster') {
    return { key: 'mode', problem: `must be cluster, or absent, with several nodes in APP_REDIS_URL, not "${asked}"` };
  }
  if (address.mode === 'sentinel') {
    return { key: 'mode', problem: `must be sentinel, or absent, with a redis+sentinel:// URL, not "${asked}"` };
  }
  if (asked === 'sentinel') {
    return { key: 'url', problem: 'must be a redis+sentinel:// URL with APP_REDIS_MODE=sentinel' };
  }
  if (address.db !== 0) return { key: 'url', problem: NO_DATABASE };
  return { value: { ...address, mode: asked } };
}
