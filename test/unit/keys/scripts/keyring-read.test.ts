import type { Redis } from 'ioredis';
import { LIMITS } from '../../../../shared/contract/limits.ts';
import { RATES } from '../../../../shared/contract/rates.ts';
import { connectTo, sharedRedisUrl } from '../../../support/redis/redis.ts';
import { NOW } from '../../../support/redis/still-clock.ts';
import { hashOf, makeAccount, textOf } from './account.ts';

let redis: Redis;

beforeAll(() => {
  redis = connectTo(sharedRedisUrl());
});
afterAll(() => redis.disconnect());

const textsOf = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, i) => textOf(from + i));

describe('a page of rings', () => {
  const PAGE = LIMITS.ringsPerPage;

  test.each([
    ['has the first ones', 0, 1, PAGE],
    ['has those after the one that the caller has', 1, 2, PAGE + 1],
    ['has the last one', PAGE, PAGE + 1, PAGE + 1],
    ['is empty for who has all of them', PAGE + 1, 1, 0],
  ])('%s', async (_, after, from, to) => {
    const account = await makeAccount(redis);
    await account.rings(PAGE + 1);
    expect(await account.page(after)).toMatchObject({ n: PAGE + 1, rings: textsOf(from, to) });
  });

  test.each([
    ['begins with the oldest that is kept', 0, 3],
    ['begins with the one after those that the caller has', 3, 4],
  ])('%s', async (_, after, from) => {
    const account = await makeAccount(redis);
    await account.rings(4);
    await redis.hset(account.keys.keyring, 'first', 3);
    expect((await account.page(after)).rings).toEqual(textsOf(from, 4));
  });

  test('comes with the list of guests, and the times of announced removals', async () => {
    const account = await makeAccount(redis);
    await account.rings(1);
    const none = { guests: null, keysAtMs: null, accountAtMs: null };
    expect(await account.page()).toMatchObject(none);
    await account.announced('keys', 5);
    expect(await account.page()).toMatchObject({ ...none, keysAtMs: NOW + 5 });
    await account.putGuests(1);
    await account.announced('account', 7);
    expect(await account.page()).toMatchObject({ guests: 'list 1', keysAtMs: NOW + 5, accountAtMs: NOW + 7 });
  });

  test('is not found without a ring', async () => {
    const account = await makeAccount(redis);
    await expect(account.page()).rejects.toMatchObject({ code: 'not_found' });
  });
});

describe('the ring in force is read for a change', () => {
  test('and there is none at first', async () => {
    const account = await makeAccount(redis);
    expect(await account.head()).toMatchObject({ n: 0, hash: '', text: '' });
    await account.rings(2);
    expect(await account.head()).toMatchObject({ n: 2, hash: hashOf(2), text: textOf(2) });
  });

  test.each([
    ['device', 'rate', RATES.keys.limit],
    ['account', 'accountRate', RATES.keys.accountLimit],
  ] as const)('as often as the rate of the %s allows', async (_, key, limit) => {
    const account = await makeAccount(redis);
    await redis.set(account.keys[key], limit - 1, 'EX', 60);
    await account.head();
    await expect(account.head()).rejects.toMatchObject({ code: 'rate_limited' });
  });
});
