import { randomBytes } from 'node:crypto';
import type { Redis } from 'ioredis';
import { LIMITS } from '../../../../shared/contract/limits.ts';
import { makeKeys } from '../../../../services/sync/redis/keys.ts';
import * as scripts from '../../../../services/sync/signin/scripts.ts';
import { randomPrefix } from '../../../support/redis/redis.ts';
import { NOW, runScript } from '../../../support/redis/still-clock.ts';

const keys = makeKeys(randomPrefix());

export const TTL_MS = 120_000;
const SENT = { poll: 'poll digest', code: 'code digest', name: 'Phone', type: 'browser', device: 'd1' };
export const CREATED = NOW - 20_000;
export const EXPIRES = CREATED + TTL_MS;

/** A request that has ended keeps these fields. */
export const TOMBSTONE = ['code', 'decision', 'expires', 'fence', 'poll', 'state'];

/** Makes the place of a login request. Its scripts run in the store at NOW. */
export function makeRequest(redis: Redis) {
  const id = randomBytes(5).toString('hex');
  const on = { login: keys.login(id), tries: keys.wrongCodes(id, 'u') };
  const decided = {
    ...{ codeDigest: 'code digest', tries: LIMITS.wrongCodes as number, operation: 'op1', account: 'u' },
    ...{
      decision: 'approved' as 'approved' | 'denied',
      fields: { user: 'u', scope: 'full' } as Record<string, string>,
    },
  };
  return {
    keys: on,
    start: () => runScript(redis, scripts.loginStart, [], on, { ttlMs: TTL_MS, fields: Object.entries(SENT).flat() }),
    /** Writes a request from 20 s ago. It is pending unless the fields say otherwise. */
    write: (fields: Record<string, string | number> = {}) =>
      redis.hset(on.login, { ...SENT, state: 'pending', created: CREATED, expires: EXPIRES, fence: 0, ...fields }),
    poll: ({ pollDigest = 'poll digest', waiter = 'bus:a\npoll 1', isFirst = true } = {}) =>
      runScript(redis, scripts.loginPoll, [], on, { pollDigest, waiter, isFirst }),
    read: ({ codeDigest = 'code digest', account = 'u' } = {}) =>
      runScript(redis, scripts.loginRead, [], on, { codeDigest, account }),
    decide(args: Partial<typeof decided> = {}) {
      const { fields, ...others } = { ...decided, ...args };
      return runScript(redis, scripts.loginDecide, [], on, { ...others, fields: Object.entries(fields).flat() });
    },
    finish: (fence: string, outcome: 'consumed' | 'denied' | 'approved') =>
      runScript(redis, scripts.loginFinish, [], on, { fence, outcome }),
    stored: () => redis.hgetall(on.login),
    state: () => redis.hget(on.login, 'state'),
  };
}
