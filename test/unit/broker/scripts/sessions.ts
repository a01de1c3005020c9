import { randomBytes } from 'node:crypto';
import type { Redis } from 'ioredis';
import { accountTag, makeKeys } from '../../../../services/broker/redis/keys.ts';
import * as scripts from '../../../../services/broker/sessions/scripts.ts';
import { randomPrefix } from '../../../support/redis/redis.ts';
import { NOW, runScript } from '../../../support/redis/still-clock.ts';

const keys = makeKeys(randomPrefix());

export const GRACE_MS = 60_000;
export const REPLAY_SECONDS = 600;
export const KEEP_MS = 86_400_000;
export const TTL_MS = 500_000;
const GRACE = [{ GRACE_MS }] as [{ GRACE_MS: number }];
const REPLAY = [{ REPLAY_SECONDS }] as [{ REPLAY_SECONDS: number }];

type Fields = Record<string, string | number>;

/** Makes an account without sessions in the app `baton`. Its scripts run in the store at NOW. */
export function makeAccount(redis: Redis) {
  const subject = `u${randomBytes(5).toString('hex')}`;
  const idOf = (n: number) => `${accountTag(subject)}-${n}`;
  const lists = { index: keys.index(subject, 'baton'), metas: keys.metas(subject, 'baton'), user: keys.user(subject) };
  const its = (n: number) => ({ ...lists, session: keys.session(idOf(n)) });
  const wanted = {
    ...{ app: 'baton', meta: 'phone', label: 'Phone', scope: 'full', persist: 'persist', sliding: '1' },
    ...{ ttlMs: TTL_MS, digest: 'd-new', keyId: 'key1' },
  };
  return {
    subject,
    idOf,
    lists,
    sessionKey: (n: number) => keys.session(idOf(n)),
    mintKey: (idempotencyKey = 'first') => keys.mint(subject, 'baton', idempotencyKey),
    /** Writes a live session of the phone. Its secret was used. */
    async session(n: number, fields: Fields = {}) {
      const all = {
        ...{ app: 'baton', subject, meta: 'phone', label: 'Phone', scope: 'full', persist: 'persist' },
        ...{ created: NOW - 90_000, active: NOW - 10_000, ends: NOW + 100_000, sliding: '1', ttl: TTL_MS },
        ...{ secret: 'd-3', retired: '', unused: '0', epoch: '0', ...fields },
      };
      await redis.hset(keys.session(idOf(n)), all);
      await redis.zadd(lists.index, Number(all.ends), `${idOf(n)} ${all.meta}`);
      await redis.hset(lists.metas, all.meta, idOf(n));
    },
    /** Mints with the session `known` of the meta, 0 for none. A new one is number `next`. */
    mint: (known: number, args: Partial<typeof wanted> = {}, { next = 9, idempotencyKey = 'first' } = {}) =>
      runScript(
        redis,
        scripts.sessionMint,
        REPLAY,
        {
          ...{ ...its(known || next), newSession: keys.session(idOf(next)) },
          mint: keys.mint(subject, 'baton', idempotencyKey),
        },
        { known: known === 0 ? '' : idOf(known), newId: idOf(next), subject, ...wanted, ...args },
      ),
    open: (n: number) =>
      runScript(redis, scripts.sessionOpen, [], its(n), {
        ...{ id: idOf(n), app: 'baton', subject, ttlMs: TTL_MS, digest: 'd-1', name: 'Ada', roles: 'admin' },
      }),
    use: (n: number, digest: string, app = 'baton') =>
      runScript(redis, scripts.sessionUse, GRACE, its(n), { id: idOf(n), app, digest }),
    rotate: (n: number, digest: string, candidates: string[], app = 'baton') =>
      runScript(redis, scripts.sessionRotate, GRACE, its(n), { id: idOf(n), app, digest, candidates }),
    revoke: (n: number, { app = 'baton', of = subject, reason = 'revoked' } = {}) =>
      runScript(redis, scripts.sessionRevoke, [], its(n), { id: idOf(n), app, subject: of, reason }),
    page: async (fromMs: number, count = 10) =>
      (await runScript(redis, scripts.sessionPage, [], lists, { fromMs, count })).entries,
    stored: (n: number) => redis.hgetall(keys.session(idOf(n))),
    index: () => redis.zrange(lists.index, '0', '-1', 'WITHSCORES'),
    metas: () => redis.hgetall(lists.metas),
  };
}
