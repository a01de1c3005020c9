import { randomId } from '../../../shared/service-kit/random-id.ts';

/**
 * The key registry: every key and channel is built here and nowhere else; scripts get them as KEYS. KEYS.md and the ACL
 * of the service are generated from it. `{u}` is the account's hash tag, so that everything one script touches lies in
 * one slot.
 */
export interface KeySpec {
  pattern: string;
  type: 'hash' | 'stream' | 'string' | 'zset' | 'set' | 'channel';
  lifetime: string;
  owner: string;
  what: string;
}

const key = (pattern: string, type: KeySpec['type'], lifetime: string, owner: string, what: string): KeySpec => ({
  pattern,
  type,
  lifetime,
  owner,
  what,
});

export const KEYS = {
  devices: key('{u}:devices', 'hash', 'none', 'devices', 'device id -> name, type, created, session id, session end'),
  routes: key('{u}:routes', 'hash', '7 d idle', 'streams', 'stream id -> channel, device, attach number, times'),
  log: key('{u}:log', 'stream', '256 events and some older ones, 24 h idle', 'streams', 'events of the account'),
  presence: key(
    '{u}:presence',
    'hash',
    '90 d idle',
    'presence',
    'version, and the last announced state of each device',
  ),
  mail: key(
    '{u}:mail',
    'hash',
    '7 d idle',
    'messages',
    'message id -> unacknowledged message; bytes of all; minute of the last purge',
  ),
  inbox: key('{u}:inbox', 'zset', '7 d idle', 'messages', 'unacknowledged messages of each device, in order'),
  offers: key(
    '{u}:offers',
    'zset',
    '7 d idle',
    'transfers',
    'for each device, in order: the offers that it has not accepted, and all its transfers',
  ),
  transfers: key(
    '{u}:transfers',
    'zset',
    '7 d idle',
    'transfers',
    'live transfers with their bytes; ended transfers by time',
  ),
  transfer: key('{u}:transfer:<id>', 'hash', '25 h', 'transfers', 'record of one transfer'),
  transferFiles: key(
    '{u}:transfer:<id>:files',
    'string',
    '25 h',
    'transfers',
    'list of its files if there are over 16, while it is live',
  ),
  transferSealed: key(
    '{u}:transfer:<id>:sealed',
    'string',
    '25 h',
    'transfers',
    'content that its sender sealed for its receiver, while it is live',
  ),
  clipboard: key('{u}:clipboard', 'string', 'APP_CLIPBOARD_TTL_SECONDS', 'clipboard', 'the entry'),
  keyring: key(
    '{u}:keys',
    'hash',
    'none',
    'keys',
    'rings as sent, by number; number and hash of the last ring; number of the first kept ring; list of guests; announced deletions',
  ),
  due: key('{u}:due', 'zset', 'none', 'due', 'due jobs of this account, by time'),
  operation: key(
    '{u}:op:<device>:<id>',
    'string',
    '600 s; 60 s without an Idempotency-Key, if replicas confirm or a call was sent again',
    'redis',
    'answers to operations that may be repeated',
  ),
  targets: key(
    '{u}:targets',
    'hash',
    '720 s after the last',
    'redis',
    'lists of the devices that received messages to all, for answers of repeated operations',
  ),
  rate: key(
    '{u}:rate:<group>:<device>',
    'string',
    '60 s; 1 h for push',
    'redis',
    'requests of a device, or of the account, in this window',
  ),
  push: key('{u}:push', 'hash', 'none', 'push', 'push subscriptions, and pushes to send'),
  dueIndex: key('due:{0..15}', 'zset', 'none', 'due', 'accounts with due jobs, by time'),
  dueStamps: key('due:{0..15}:stamps', 'hash', 'none', 'due', 'account -> when it was last scheduled'),
  replicas: key('{sys}:replicas', 'hash', 'none', 'replicas', 'replica id -> lease counter'),
  settings: key('{sys}:settings', 'hash', 'none', 'replicas', 'replica id -> its settings that must agree, as JSON'),
  reaping: key('{sys}:reaping', 'hash', 'none', 'replicas', 'dead replica -> its reaper'),
  accounts: key('replica:{<id>}:accounts', 'set', '7 d', 'replicas', 'accounts with a stream on that replica'),
  addressRate: key('rate:<group>:<address>', 'string', '60 s', 'http', 'requests of a client address in this window'),
  relayFiles: key(
    '{u}:relay',
    'zset',
    'APP_TRANSFER_REDELIVERY_SECONDS',
    'relay',
    'files that hold bytes in the relay',
  ),
  relayKept: key(
    '{u}:relay:kept',
    'zset',
    'APP_TRANSFER_REDELIVERY_SECONDS idle',
    'relay',
    'files with a state in the relay that take no space: delivered files, and files whose sender has to come back',
  ),
  relayReads: key(
    '{u}:relay:reads',
    'hash',
    '210 s',
    'relay',
    'files that are read or waited for, and the reader of each',
  ),
  relayState: key(
    'relay:{t}:<file>:state',
    'hash',
    'APP_TRANSFER_REDELIVERY_SECONDS idle',
    'relay',
    'generation, position of the receiver, and the requests that send, read and wait',
  ),
  relayBytes: key(
    'relay:{t}:<file>:<generation>',
    'stream',
    'that of the state',
    'relay',
    'chunks by the offset of their end',
  ),
  revoked: key('{sys}:revoked', 'zset', '24 h an entry', 'sessions', 'account and device of each revocation, by time'),
  revokedVersion: key('{sys}:revoked:version', 'string', 'none', 'sessions', 'changes with every revocation'),
  keySet: key(
    '{sys}:key-set:<hash>',
    'hash',
    '24 h after it was fetched',
    'identity',
    'public keys that check identities, sealed with APP_BROKER_TOKEN, and the time of their fetch',
  ),
  pushOwner: key('push:{<hash>}', 'string', '180 d idle', 'push', 'owner of a push target: fence, account, device'),
  pushText: key(
    '{sys}:push:<name>',
    'string',
    'that of its text; VAPID key: none',
    'push',
    'texts that replicas share: tokens, a VAPID key',
  ),
  login: key('login:{<request_id>}', 'hash', 'APP_QR_REQUEST_TTL_SECONDS + 600 s', 'signin', 'login request'),
  invite: key('invite:{<invite_id>}', 'string', '120 s', 'signin', 'account whose device invites'),
  invites: key(
    '{u}:invites',
    'hash',
    '120 s + APP_QR_REQUEST_TTL_SECONDS',
    'signin',
    'invites of devices, and the login requests that were made with them',
  ),
  wrongCodes: key(
    'login:{<request_id>}:wrong:<account>',
    'set',
    'until the request ends',
    'signin',
    'wrong approval codes that the account sent for it',
  ),
  bus: key('bus:{<id>}', 'channel', '', 'redis', 'one channel per replica'),
} as const satisfies Record<string, KeySpec>;

export const DUE_SHARDS = 16;

/** Takes the place of a device to mean all devices of the account together. */
export const ACCOUNT = '*';

/** Returns the index shard of an account; any stable spread will do. */
function shardOf(account: string): number {
  let sum = 0;
  for (let i = 0; i < account.length; i++) sum = (sum * 31 + account.charCodeAt(i)) >>> 0;
  return sum % DUE_SHARDS;
}

/** The keys of one account that depend only on its name, by their names in scripts. */
const OF_ACCOUNT = {
  devices: 'devices',
  routes: 'routes',
  log: 'log',
  presence: 'presence',
  mail: 'mail',
  inbox: 'inbox',
  offers: 'offers',
  clipboard: 'clipboard',
  keyring: 'keys',
  invites: 'invites',
  due: 'due',
  push: 'push',
  targets: 'targets',
  transfers: 'transfers',
  relayFiles: 'relay',
  relayKept: 'relay:kept',
  relayReads: 'relay:reads',
} as const;
type OfAccount = keyof typeof OF_ACCOUNT;

/** Keys that are built when they are read, because every command comes here and a script takes only a few of them. */
class LazyKeys {
  readonly prefix: string;

  constructor(prefix: string) {
    this.prefix = prefix;
  }

  static {
    for (const [name, part] of Object.entries(OF_ACCOUNT)) {
      Object.defineProperty(this.prototype, name, {
        get(this: LazyKeys) {
          return this.prefix + part;
        },
      });
    }
  }
}

type AccountKeys = Readonly<Record<OfAccount, string>>;

/** Makes the builders of every key under one prefix. `account` is a percent-encoded user id (`Caller.account`). */
export function makeKeys(prefix: string) {
  const ofAccount = Object.fromEntries(
    Object.entries(OF_ACCOUNT).map(([name, part]) => [name, (account: string) => `${prefix}:{${account}}:${part}`]),
  ) as Record<OfAccount, (account: string) => string>;
  /** All callers of an account without a device share the same operations. */
  const operation = (account: string, deviceId: string | null, id: string) =>
    `${prefix}:{${account}}:op:${deviceId ?? ''}:${id}`;
  return {
    ...ofAccount,
    /** Returns the keys of an account by name, as scripts take them, with others that depend on more than its name. */
    inAccount: <E extends object>(account: string, others?: E) =>
      Object.assign(new LazyKeys(`${prefix}:{${account}}:`), others) as unknown as AccountKeys & E,
    /** Returns the account of a key that carries it as its hash tag. */
    accountOf: (name: string): string => /\{(.+)\}/.exec(name)?.[1] ?? '',
    pushOwner: (hash: string) => `${prefix}:push:{${hash}}`,
    pushText: (name: string) => `${prefix}:{sys}:push:${name}`,
    transfer: (account: string, id: string) => `${prefix}:{${account}}:transfer:${id}`,
    transferFiles: (account: string, id: string) => `${prefix}:{${account}}:transfer:${id}:files`,
    transferSealed: (account: string, id: string) => `${prefix}:{${account}}:transfer:${id}:sealed`,
    operation,
    /** Returns the key of one call of a script without a client's key, in case it is sent again. */
    call: (account: string, deviceId: string | null) => operation(account, deviceId, randomId(16)),
    rate: (account: string, group: string, deviceId: string | null) =>
      `${prefix}:{${account}}:rate:${group}:${deviceId ?? ''}`,
    dueIndex: (shard: number) => `${prefix}:due:{${shard}}`,
    dueStamps: (shard: number) => `${prefix}:due:{${shard}}:stamps`,
    dueShard: shardOf,
    relayState: (transferId: string, index: number) => `${prefix}:relay:{${transferId}}:${index}:state`,
    relayBytes: (transferId: string, index: number, generation: number) =>
      `${prefix}:relay:{${transferId}}:${index}:${generation}`,
    login: (requestId: string) => `${prefix}:login:{${requestId}}`,
    invite: (inviteId: string) => `${prefix}:invite:{${inviteId}}`,
    wrongCodes: (requestId: string, account: string) => `${prefix}:login:{${requestId}}:wrong:${account}`,
    replicas: `${prefix}:{sys}:replicas`,
    settings: `${prefix}:{sys}:settings`,
    reaping: `${prefix}:{sys}:reaping`,
    keySet: (hash: string) => `${prefix}:{sys}:key-set:${hash}`,
    revoked: `${prefix}:{sys}:revoked`,
    revokedVersion: `${prefix}:{sys}:revoked:version`,
    accounts: (replicaId: string) => `${prefix}:replica:{${replicaId}}:accounts`,
    addressRatePrefix: (group: string) => `${prefix}:rate:${group}:`,
    bus: (replicaId: string) => `${prefix}:bus:{${replicaId}}`,
  };
}

export type Keys = ReturnType<typeof makeKeys>;
