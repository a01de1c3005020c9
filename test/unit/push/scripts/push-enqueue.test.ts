import type { Redis } from 'ioredis';
import { RATES } from '../../../../shared/contract/rates.ts';
import { connectTo, sharedRedisUrl } from '../../../support/redis/redis.ts';
import { NOW } from '../../../support/redis/still-clock.ts';
import { jobOf, makeAccount } from './account.ts';

/* Enqueuing pushes. A test notification is the shortest way to enqueue one. */

let redis: Redis;

beforeAll(() => {
  redis = connectTo(sharedRedisUrl());
});
afterAll(() => redis.disconnect());

const PAUSE_MS = 600_000;
const JOB = jobOf('test', { peer: '' });

describe('a push is enqueued', () => {
  test('for each registration of the device, and is due at once', async () => {
    const account = await makeAccount(redis);
    await account.subscribe();
    await account.subscribe({}, { platform: 'fcm' });
    await account.subscribe({}, { device: 'laptop' });
    const jobs = [JOB, jobOf('test', { platform: 'fcm', peer: '' })];
    expect(await account.test()).toMatchObject({ jobs });
    for (const job of jobs) expect(await account.stored(job)).toEqual({ text: `n1\n${NOW}\n0\n0`, at: 0 });
    expect(await redis.zcard(account.keys.due)).toBe(2);
  });

  test.each([
    ['not for a registration that its push service refused a while ago', PAUSE_MS - 1, false],
    ['for such a one when the pause is over', PAUSE_MS, true],
  ])('%s', async (_, ago, isEnqueued) => {
    const account = await makeAccount(redis);
    await account.subscribe({ suspended: String(NOW - ago) });
    if (isEnqueued) expect(await account.test()).toMatchObject({ jobs: [JOB] });
    else await expect(account.test()).rejects.toMatchObject({ code: 'not_found' });
  });

  test('not without a registration, nor too often', async () => {
    const account = await makeAccount(redis);
    await expect(account.test()).rejects.toMatchObject({ code: 'not_found' });
    await account.subscribe();
    await redis.set(account.keys.rate, RATES.push_test.limit, 'EX', 60);
    await expect(account.test()).rejects.toMatchObject({ code: 'rate_limited' });
    expect(await redis.exists(account.keys.due)).toBe(0);
  });
});

describe('a push that waits already', () => {
  test.each([
    ['is as late as its push service asked for', NOW + 500, NOW + 500, false, 500],
    ['is due when that time has passed', NOW - 500, NOW + 30_000, true, 0],
    ['is due when that time has come', NOW, NOW + 30_000, true, 0],
    ['is not put off if it is due earlier', NOW + 500, NOW + 100, false, 100],
  ])('%s', async (_, notBefore, at, isNow, dueIn) => {
    const account = await makeAccount(redis);
    await account.subscribe();
    await account.job(JOB, at, `n0\n${NOW - 9}\n3.2\n${notBefore}`);
    expect(await account.test()).toMatchObject({ jobs: isNow ? [JOB] : [] });
    expect(await account.stored(JOB)).toEqual({ text: `n1\n${NOW}\n3.2\n${notBefore}`, at: dueIn });
  });

  test('keeps its attempts', async () => {
    const account = await makeAccount(redis);
    await account.subscribe();
    await account.job(JOB, NOW, `n0\n${NOW - 9}\n3\n0`);
    await account.test();
    expect(await account.stored(JOB)).toEqual({ text: `n1\n${NOW}\n3\n0`, at: 0 });
  });
});
