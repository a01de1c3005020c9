import { randomBytes } from 'node:crypto';
import type { Redis } from 'ioredis';
import { makeKeys } from '../../../../services/sync/redis/keys.ts';
import { KEEP_MS, keySetKeep } from '../../../../services/sync/identity/scripts.ts';
import { expectLifetimes } from '../../../support/redis/lifetime.ts';
import { connectTo, randomPrefix, sharedRedisUrl } from '../../../support/redis/redis.ts';
import { NOW, runScript } from '../../../support/redis/still-clock.ts';

let redis: Redis;

beforeAll(() => {
  redis = connectTo(sharedRedisUrl());
});
afterAll(() => redis.disconnect());

const keys = makeKeys(randomPrefix());
const MINUTE_MS = 60_000;

function makeSet() {
  const on = { keySet: keys.keySet(randomBytes(5).toString('hex')) };
  return {
    key: on.keySet,
    keep: (atMs: number, sealed: string) => runScript(redis, keySetKeep, [], on, { atMs, sealed }),
    kept: () => redis.hget(on.keySet, 'sealed'),
  };
}

test('a key set that was fetched is kept for a day', async () => {
  const set = makeSet();
  await expectLifetimes(redis, () => set.keep(NOW, 'first'), { [set.key]: KEEP_MS / 1_000 });
  expect(await set.kept()).toBe('first');
});

test.each([
  ['one that was requested earlier', NOW - 5, true],
  ['one that was requested at the same time', NOW - 2, true],
  ['one that was requested later, and came first', NOW - 1, false],
  ['one with a time of another clock, a minute from now', NOW + MINUTE_MS, false],
  ['one with a time of another clock, further from now', NOW + MINUTE_MS + 1, true],
])('a key set replaces %s', async (_, knownMs, isReplaced) => {
  const set = makeSet();
  await set.keep(knownMs, 'known');
  await set.keep(NOW - 2, 'next');
  expect(await set.kept()).toBe(isReplaced ? 'next' : 'known');
  // The time of the kept set decides the next time too.
  await set.keep(NOW - 3, 'last');
  expect(await set.kept()).toBe(isReplaced ? 'next' : 'known');
});
