import { randomBytes } from 'node:crypto';
import type { Redis } from 'ioredis';
import { dueClaim, dueJobs, dueSchedule, dueSettle, LEASE_MS } from '../../../../services/sync/due/scripts.ts';
import { connectTo, randomPrefix, sharedRedisUrl } from '../../../support/redis/redis.ts';
import { NOW, runScript } from '../../../support/redis/still-clock.ts';

/* The index of accounts with something due, and the due jobs of an account. */

let redis: Redis;

beforeAll(() => {
  redis = connectTo(sharedRedisUrl());
});
afterAll(() => redis.disconnect());

const prefix = randomPrefix();
const USUAL_REQUEST_MS = 10_000;
const LONGEST_REQUEST_MS = 600_000;

/** Makes an empty shard of the index, and an account without jobs. */
function makeShard() {
  const name = `${prefix}:{${randomBytes(5).toString('hex')}}`;
  const on = { index: `${name}:due`, stamps: `${name}:stamps`, due: `${name}:jobs` };
  const settle = { account: 'u', claimedStamp: '', nextInMs: null as number | null };
  return {
    keys: on,
    schedule: (delayMs = 0, nonce = 'x', account = 'u') =>
      runScript(redis, dueSchedule, [], on, { account, delayMs, nonce }),
    claim: (count = 10) => runScript(redis, dueClaim, [], on, { count }),
    settle: (args: Partial<typeof settle>) => runScript(redis, dueSettle, [], on, { ...settle, ...args }),
    jobs: (passed = 0) => runScript(redis, dueJobs, [], on, { passed }),
    index: () => redis.zrange(on.index, '0', '-1', 'WITHSCORES'),
    stamps: () => redis.hgetall(on.stamps),
  };
}

describe('an account is scheduled', () => {
  test('for the earliest time that was asked for, with a stamp of the last time', async () => {
    const shard = makeShard();
    await shard.schedule(2_000, 'first');
    await shard.schedule(1_000, 'second');
    await shard.schedule(3_000, 'third');
    expect(await shard.index()).toEqual(['u', String(NOW + 1_000)]);
    expect(await shard.stamps()).toEqual({ u: `${NOW}-third` });
  });

  test('without a stamp when its job is written already', async () => {
    const shard = makeShard();
    await shard.schedule(5, '');
    expect(await shard.index()).toEqual(['u', String(NOW + 5)]);
    expect(await shard.stamps()).toEqual({});
  });
});

describe('accounts are claimed', () => {
  test('when their time has come, the earliest first, as many as were asked for', async () => {
    const shard = makeShard();
    await redis.zadd(shard.keys.index, NOW - 2, 'a', NOW - 1, 'b', NOW, 'c', NOW + 1, 'd');
    await redis.hset(shard.keys.stamps, 'b', 'stamp');
    const { claimed } = await shard.claim(2);
    expect(claimed).toEqual([
      { account: 'a', stamp: '' },
      { account: 'b', stamp: 'stamp' },
    ]);
    expect((await shard.claim()).claimed).toEqual([{ account: 'c', stamp: '' }]);
    const later = String(NOW + LEASE_MS);
    expect(await shard.index()).toEqual(['d', String(NOW + 1), 'a', later, 'b', later, 'c', later]);
  });
});

describe('a claimed account is settled', () => {
  const settled = async (stamp: string | null, nextInMs: number | null, claimedStamp = stamp ?? '') => {
    const shard = makeShard();
    await redis.zadd(shard.keys.index, NOW + LEASE_MS, 'u', NOW, 'other');
    if (stamp !== null) await redis.hset(shard.keys.stamps, 'u', stamp, 'other', 'stamp');
    await shard.settle({ claimedStamp, nextInMs });
    const at = await redis.zscore(shard.keys.index, 'u');
    expect(await redis.zscore(shard.keys.index, 'other')).toBe(String(NOW));
    expect(await redis.hexists(shard.keys.stamps, 'u')).toBe(at === null || stamp === null ? 0 : 1);
    return at === null ? null : Number(at) - NOW;
  };
  const ago = (ms: number) => `${NOW - ms}-x`;

  test.each<[string, string | null, number | null, number | null]>([
    ['and leaves the index when it has no job', null, null, null],
    ['for its next job', null, 5_000, 5_000],
    ['for a second later at the earliest', null, 10, 1_000],
    ['for a job that a usual request has yet to write', ago(0), null, USUAL_REQUEST_MS + 1],
    ['for its next job, which is due before that', ago(0), 5_000, 5_000],
    ['for that job before its next one', ago(2_000), 60_000, USUAL_REQUEST_MS - 1_999],
    ['a second later at the end of a usual request', ago(USUAL_REQUEST_MS), null, 1_000],
    [
      'for a job that a long request has yet to write',
      ago(USUAL_REQUEST_MS + 1),
      null,
      LONGEST_REQUEST_MS - USUAL_REQUEST_MS,
    ],
    ['for its next job, which is due before the end of a long request', ago(USUAL_REQUEST_MS + 1), 60_000, 60_000],
    ['for that end before its next job', ago(30_000), 900_000, LONGEST_REQUEST_MS - 29_999],
    ['a second later at the end of the longest request', ago(LONGEST_REQUEST_MS), null, 1_000],
    ['and leaves the index after the longest request', ago(LONGEST_REQUEST_MS + 1), null, null],
    ['for its next job after the longest request', ago(LONGEST_REQUEST_MS + 1), 900_000, 900_000],
  ])('%s', async (_, stamp, nextInMs, inMs) => {
    expect(await settled(stamp, nextInMs)).toBe(inMs);
  });

  test('at once when it was scheduled since the claim', async () => {
    expect(await settled(ago(LONGEST_REQUEST_MS + 1), 900_000, 'older')).toBe(1_000);
    expect(await settled(ago(0), null, 'older')).toBe(1_000);
  });
});

describe('the due jobs of an account', () => {
  test('are those whose time has come, with the time of the next', async () => {
    const shard = makeShard();
    await redis.zadd(shard.keys.due, NOW - 1, 'a', NOW, 'b', NOW + 5, 'c', NOW + 9, 'd');
    expect(await shard.jobs()).toMatchObject({ due: ['a', 'b'], nextInMs: 5 });
    expect(await shard.jobs(1)).toMatchObject({ due: ['b'], nextInMs: 5 });
  });

  test('are none where there is none', async () => {
    const shard = makeShard();
    expect(await shard.jobs()).toMatchObject({ due: [], nextInMs: null });
    await redis.zadd(shard.keys.due, NOW + 7, 'a');
    expect(await shard.jobs()).toMatchObject({ due: [], nextInMs: 7 });
  });
});
