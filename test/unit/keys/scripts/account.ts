import { randomBytes } from 'node:crypto';
import type { Redis } from 'ioredis';
import * as scripts from '../../../../services/sync/keys/scripts.ts';
import { ACCOUNT, makeKeys } from '../../../../services/sync/redis/keys.ts';
import { randomPrefix } from '../../../support/redis/redis.ts';
import { NOW, runScript } from '../../../support/redis/still-clock.ts';

const keys = makeKeys(randomPrefix());

/**
 * Returns the text and the hash of the ring with this number. Scripts take any text, because the service checks it
 * before.
 */
export const textOf = (n: number): string => `ring ${n}`;
export const hashOf = (n: number): string => (n === 0 ? '' : `hash ${n}`);

/** Makes an account without rings, and with an open stream of a phone. Its scripts run in the store at NOW. */
export async function makeAccount(redis: Redis) {
  const name = `u${randomBytes(5).toString('hex')}`;
  const on = keys.inAccount(name, {
    ...{ operation: keys.call(name, 'laptop'), rate: keys.rate(name, 'keys', 'laptop') },
    accountRate: keys.rate(name, 'keys', ACCOUNT),
  });
  await redis.hset(on.routes, 's1', ['bus:a', 'phone', 1, NOW, NOW, 0].join('\n'));
  const list = {
    ...{ guests: 'list 1', guestsHash: 'list hash 1', compares: false, replaces: '', rememberSeconds: 0 },
  };
  const put = (n: number, { hash = hashOf(n), ring = textOf(n), replaces = hashOf(n - 1), rememberSeconds = 0 } = {}) =>
    runScript(redis, scripts.keyringPut, [], on, { n, hash, ring, replaces, rememberSeconds });
  return {
    keys: on,
    put,
    /** Puts the rings 1 to `n`, and deletes their announcements. */
    async rings(n: number) {
      for (let each = 1; each <= n; each++) await put(each);
      await redis.del(on.log);
    },
    page: (after = 0) => runScript(redis, scripts.keyringPage, [], on, { after }),
    head: () => runScript(redis, scripts.keyringHead, [], on, {}),
    /** Puts a list of guests that a member of the ring `n` signed. */
    putGuests: (n: number, args: Partial<typeof list> = {}) =>
      runScript(redis, scripts.keyringGuests, [], on, { ...list, hash: hashOf(n), ...args }),
    announce: (what: 'keys' | 'account') => runScript(redis, scripts.keyringAnnounce, [], on, { what }),
    drop: (why: 'signed' | 'due' | 'erased', hash = '') => runScript(redis, scripts.keyringDrop, [], on, { why, hash }),
    keep: (n: number) => runScript(redis, scripts.keyringKeep, [], on, { hash: hashOf(n) }),
    /** Writes an announcement that is due this many ms from NOW. */
    async announced(what: 'keys' | 'account', inMs: number) {
      await redis.hset(on.keyring, `deletion:${what}`, NOW + inMs);
      await redis.zadd(on.due, NOW + inMs, `keys:${what}`);
    },
    jobs: () => redis.zrange(on.due, '0', '-1', 'WITHSCORES'),
    /** Returns event, addressee and data of each entry of the log. */
    logged: async () => (await redis.xrange(on.log, '-', '+')).map(([, entry]) => [entry[3], entry[5], entry[7]]),
  };
}
