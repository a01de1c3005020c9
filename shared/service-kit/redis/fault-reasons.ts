import type { RedisAddress } from '../config/redis.ts';

/** Hints for an operator, by the message of the system, the client library or Redis. The first match counts. */
const HINTS: readonly (readonly [RegExp, (address: RedisAddress) => string])[] = [
  [
    /No such master|invalid reply: null/,
    ({ master }) => `the sentinels know no primary named ${master}: it is the last part of the URL`,
  ],
  [/connect to sentinel .*Connection is closed|^All sentinels/, () => 'no sentinel can be reached'],
  [/ECONNREFUSED/, () => 'nothing listens there'],
  [/ENOTFOUND|EAI_AGAIN/, () => 'the host name is not known'],
  [/\bNOAUTH\b/, () => 'a password is required, and none is set'],
  [/\bWRONGPASS\b|invalid password/, () => 'user name or password are refused'],
  [/\bNOPERM\b/, () => 'the user lacks a right: deploy/redis/users.acl lists what is needed'],
  [
    /WRONG_VERSION_NUMBER|wrong version number|PACKET_LENGTH/i,
    () => 'no TLS is spoken there: redis://, or another port',
  ],
  [
    /certificate|CERT_|UNABLE_TO_(GET|VERIFY)|ALTNAME/i,
    () => 'its certificate is not trusted: NODE_EXTRA_CA_CERTS names a file with a CA of your own',
  ],
  [/^OOM\b/, () => 'its memory is full: more maxmemory, never an eviction policy'],
  [/^MISCONF\b/, () => 'it cannot write to its disk: make room there'],
  [/cluster support disabled/, () => 'the server is not part of a cluster'],
  [
    /^(MOVED|ASK|CROSSSLOT)\b/,
    () => 'the server is part of a cluster: name several of its nodes, or to a replica one with APP_REDIS_MODE=cluster',
  ],
  [
    /timed out|ETIMEDOUT|no subscription after|before secure TLS/i,
    ({ tls }) => (tls ? 'no answer: is TLS spoken on that port?' : 'no answer'),
  ],
  [
    /connection is closed|closed the connection|ECONNRESET|socket hang up/i,
    ({ tls }) =>
      tls ? 'it closes the connection' : 'it closes the connection: on a port with TLS the URL begins with rediss://',
  ],
];

/** Returns the innermost message: of the last node of a cluster, or of all addresses of a name. */
function detailOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if ('lastNodeError' in error && error.lastNodeError instanceof Error) return detailOf(error.lastNodeError);
  if (error instanceof AggregateError) return error.errors.map(detailOf).join(', ');
  const code =
    'code' in error && typeof error.code === 'string' && !error.message.includes(error.code) ? error.code : '';
  return code === '' ? error.message : `${error.message} (${code})`;
}

/**
 * Returns the message without the URL's user info, without arguments of commands and without line ends. It also removes the
 * library's wait before its next try, so that the text is the same each time.
 */
function clean(detail: string, { user, sentinelUser }: RedisAddress): string {
  const secrets = [user.password, sentinelUser.password].filter((text): text is string => Boolean(text));
  const names = [user.username, sentinelUser.username].filter((text): text is string => Boolean(text));
  let text = detail.replace(/,? with args beginning with.*$/s, '');
  text = text.replace(/^All sentinels are unreachable.*?(?: Last error: |$)/, '') || 'All sentinels are unreachable';
  for (const secret of secrets) text = text.replaceAll(secret, '***');
  for (const name of names) text = text.replaceAll(`User ${name} `, 'User *** ').replaceAll(`'${name}'`, "'***'");
  return text.replace(/\s+/g, ' ').trim().slice(0, 300);
}

/** Says why a store cannot be used, in one sentence for its operator, without secrets. The same fault has the same text. */
export function reasonOf(error: unknown, address: RedisAddress): string {
  const detail = clean(detailOf(error), address);
  const hint = HINTS.find(([pattern]) => pattern.test(detail))?.[1](address);
  return hint === undefined ? detail : `${hint} (${detail})`;
}
