import type { Redis } from 'ioredis';
import { clipboardClear, clipboardSet } from '../../../services/sync/clipboard/scripts.ts';
import { makeKeys } from '../../../services/sync/redis/keys.ts';
import { bindScript } from '../../../shared/service-kit/redis/scripts/bound-script.ts';
import { connectTo, randomPrefix, sharedRedisUrl } from '../../support/redis/redis.ts';

/* The sweeping replica is told whether an entry ended, which it counts (`baton_due_run_total`). */

const TTL_MS = 60_000;
const keys = makeKeys(randomPrefix());
let redis: Redis;

beforeAll(() => {
  redis = connectTo(sharedRedisUrl());
});
afterAll(() => redis.disconnect());

async function set(u: string): Promise<void> {
  const bound = bindScript(clipboardSet, true, [{ TTL_MS }], 0);
  const limited = { operation: keys.call(u, null), rate: keys.rate(u, 'clipboard', null), accountRate: `${u}:rates` };
  const given = { device: '', name: 'Laptop', content: '"text"', bytes: 4 };
  const words = bound.words(keys.inAccount(u, limited), given);
  await redis.eval(bound.text, bound.keyCount, ...words);
}

/** Returns whether it was cleared, and what is left. */
async function clear(u: string, onlyWhenOver: boolean) {
  const bound = bindScript(clipboardClear, true, []);
  const reply = (await redis.eval(bound.text, bound.keyCount, ...bound.words(keys.inAccount(u), { onlyWhenOver }))) as
    | string[]
    | Buffer[];
  return {
    cleared: String(reply[1]),
    entries: await redis.exists(keys.clipboard(u)),
    logged: await redis.xlen(keys.log(u)),
  };
}

test('an entry whose time has not come stays, and nobody is told of an end', async () => {
  await set('young');
  expect(await clear('young', true)).toEqual({ cleared: '0', entries: 1, logged: 1 });
});

test('an entry whose time is over ends once', async () => {
  await set('old');
  await redis.zadd(keys.due('old'), Date.now() - TTL_MS, 'clipboard');
  expect(await clear('old', true)).toEqual({ cleared: '1', entries: 0, logged: 2 });
  expect(await clear('old', true)).toEqual({ cleared: '0', entries: 0, logged: 2 });
});

test('an entry is cleared by hand before its time, once', async () => {
  await set('by hand');
  expect(await clear('by hand', false)).toEqual({ cleared: '1', entries: 0, logged: 2 });
  expect(await clear('by hand', false)).toEqual({ cleared: '0', entries: 0, logged: 2 });
});
