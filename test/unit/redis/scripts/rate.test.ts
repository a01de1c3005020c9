import type { Redis } from 'ioredis';
import type { BatonError } from '../../../../shared/contract/errors.ts';
import { RATES } from '../../../../shared/contract/rates.ts';
import { expectLifetimes } from '../../../support/redis/lifetime.ts';
import { connectTo, sharedRedisUrl } from '../../../support/redis/redis.ts';
import { makeAccount } from './account.ts';

/* The rates that scripts count. */

let redis: Redis;

beforeAll(() => {
  redis = connectTo(sharedRedisUrl());
});
afterAll(() => redis.disconnect());

const { limit, accountLimit, windowSeconds } = RATES.signal;

describe('the rate of a device', () => {
  test('begins its window with the first call, and does not make it longer', async () => {
    const account = await makeAccount(redis);
    await expectLifetimes(redis, account.send, {
      ...{ [account.keys.rate]: windowSeconds, [account.keys.accountRate]: windowSeconds },
    });
    await redis.expire(account.keys.rate, 7);
    await account.send();
    expect(await redis.ttl(account.keys.rate)).toBeLessThanOrEqual(7);
    expect(await redis.mget(account.keys.rate, account.keys.accountRate)).toEqual(['2', '2']);
  });

  test('allows the last call of its limit, and refuses the next with the time until its window ends', async () => {
    const account = await makeAccount(redis);
    await redis.set(account.keys.rate, limit - 1, 'EX', 7);
    await account.send();
    const refused = await account.send().catch((error: unknown) => error as BatonError);
    expect(refused).toMatchObject({ code: 'rate_limited', extras: { retryAfterSeconds: expect.any(Number) } });
    const { retryAfterSeconds } = (refused as BatonError).extras;
    expect(retryAfterSeconds).toBeGreaterThan(0);
    expect(retryAfterSeconds).toBeLessThanOrEqual(7);
    expect(await account.logged()).toHaveLength(1);
  });
});

test('all devices of an account together have a limit of their own', async () => {
  const account = await makeAccount(redis);
  await redis.set(account.keys.accountRate, accountLimit - 1, 'EX', 7);
  await account.send();
  await expect(account.send()).rejects.toMatchObject({ code: 'rate_limited' });
});

test('a call that its device’s limit refuses does not count for the account', async () => {
  const account = await makeAccount(redis);
  await redis.set(account.keys.rate, limit, 'EX', 7);
  await expect(account.send()).rejects.toMatchObject({ code: 'rate_limited' });
  expect(await redis.exists(account.keys.accountRate)).toBe(0);
});
