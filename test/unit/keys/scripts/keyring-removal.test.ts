import type { Redis } from 'ioredis';
import { LIMITS } from '../../../../shared/contract/limits.ts';
import { connectTo, sharedRedisUrl } from '../../../support/redis/redis.ts';
import { NOW } from '../../../support/redis/still-clock.ts';
import { hashOf, makeAccount } from './account.ts';

/*
 * Rings, or the account, are removed by a member's signature, or a day after the announcement, unless a member objects.
 */

let redis: Redis;

beforeAll(() => {
  redis = connectTo(sharedRedisUrl());
});
afterAll(() => redis.disconnect());

const DAY_MS = LIMITS.deletionSeconds * 1_000;

describe('a removal is announced', () => {
  test.each(['keys', 'account'] as const)('for a day later, and everybody is told: %s', async (what) => {
    const account = await makeAccount(redis);
    await account.rings(2);
    const { announced, ...reply } = await account.announce(what);
    expect(reply).toEqual({ atMs: NOW + DAY_MS });
    expect(announced).toHaveLength(1);
    expect(await account.page()).toMatchObject({ [`${what}AtMs`]: NOW + DAY_MS });
    expect(await account.jobs()).toEqual([`keys:${what}`, String(NOW + DAY_MS)]);
    expect(await account.logged()).toEqual([['keys', '*', '{"n":2}']]);
  });

  test('once: a later announcement does not move its time', async () => {
    const account = await makeAccount(redis);
    await account.rings(1);
    await account.announced('keys', 5);
    expect(await account.announce('keys')).toEqual({ atMs: NOW + 5, isRepeated: true, announced: [] });
    expect(await account.jobs()).toEqual(['keys:keys', String(NOW + 5)]);
    expect(await account.logged()).toEqual([]);
  });

  test('only where there are rings', async () => {
    const account = await makeAccount(redis);
    expect(await account.announce('keys')).toEqual({ atMs: null, announced: [] });
    expect(await account.jobs()).toEqual([]);
    expect(await account.logged()).toEqual([]);
  });
});

describe('rings are removed', () => {
  test('because a member of the ring in force signed that, with every announcement', async () => {
    const account = await makeAccount(redis);
    await account.rings(2);
    await account.putGuests(2);
    await account.announced('account', 5);
    await redis.del(account.keys.log);
    const { announced, ...reply } = await account.drop('signed', hashOf(2));
    expect(reply).toEqual({ outcome: 'dropped' });
    expect(announced).toMatchObject([{ channel: 'bus:a', label: 'keys' }]);
    expect(await redis.exists(account.keys.keyring)).toBe(0);
    expect(await account.jobs()).toEqual([]);
    expect(await account.logged()).toEqual([['keys', '*', '{"n":0}']]);
  });

  test.each([1, 2])('not because a member of another ring signed that, and the device is told: %d', async (top) => {
    const account = await makeAccount(redis);
    await account.rings(top);
    expect(await account.drop('signed', 'hash of another')).toEqual({ outcome: 'moved', n: top, announced: [] });
    expect(await account.page()).toMatchObject({ n: top });
  });

  test.each([
    ['signed', hashOf(1)],
    ['erased', ''],
  ] as const)('without a word where there are none: %s', async (why, hash) => {
    const account = await makeAccount(redis);
    expect(await account.drop(why, hash)).toEqual({ outcome: 'dropped', announced: [] });
    expect(await account.logged()).toEqual([]);
  });

  test('with the account, whoever is a member', async () => {
    const account = await makeAccount(redis);
    await account.rings(1);
    expect(await account.drop('erased')).toMatchObject({ outcome: 'dropped' });
    expect(await redis.exists(account.keys.keyring)).toBe(0);
    expect(await account.logged()).toEqual([['keys', '*', '{"n":0}']]);
  });

  test.each([
    [-1, 'dropped'],
    [0, 'dropped'],
    [1, 'early'],
  ])('at the time that was announced: %d ms later it is %s', async (inMs, outcome) => {
    const account = await makeAccount(redis);
    await account.rings(1);
    await account.announced('keys', inMs);
    expect(await account.drop('due')).toMatchObject({ outcome });
    expect(await redis.exists(account.keys.keyring)).toBe(outcome === 'early' ? 1 : 0);
    expect(await account.jobs()).toEqual(outcome === 'early' ? ['keys:keys', String(NOW + inMs)] : []);
  });

  test('at the time that was announced, and the announced end of the account stays', async () => {
    const account = await makeAccount(redis);
    await account.rings(1);
    await account.announced('keys', -1);
    await account.announced('account', 5);
    expect(await account.drop('due')).toMatchObject({ outcome: 'dropped', announced: [{ label: 'keys' }] });
    expect(await redis.hgetall(account.keys.keyring)).toEqual({ 'deletion:account': String(NOW + 5) });
    expect(await account.jobs()).toEqual(['keys:account', String(NOW + 5)]);
    await expect(account.page()).rejects.toMatchObject({ code: 'not_found' });
  });

  test('not if that was cancelled, and its job goes', async () => {
    const account = await makeAccount(redis);
    await account.rings(1);
    await redis.zadd(account.keys.due, NOW, 'keys:keys', NOW, 'keys:account');
    expect(await account.drop('due')).toEqual({ outcome: 'early', announced: [] });
    expect(await account.page()).toMatchObject({ n: 1 });
    expect(await account.jobs()).toEqual(['keys:account', String(NOW)]);
  });
});

describe('a member objects', () => {
  test.each([[['keys']], [['account']], [['keys', 'account']]] as ('keys' | 'account')[][][])(
    'to every announced removal, and everybody is told: %j',
    async (removals) => {
      const account = await makeAccount(redis);
      await account.rings(2);
      for (const what of removals) await account.announced(what, 5);
      expect(await account.keep(2)).toMatchObject({ outcome: 'kept', announced: [{ label: 'keys' }] });
      expect(await account.page()).toMatchObject({ n: 2, keysAtMs: null, accountAtMs: null });
      expect(await account.jobs()).toEqual([]);
      expect(await account.logged()).toEqual([['keys', '*', '{"n":2}']]);
    },
  );

  test('to nothing, and nobody is told', async () => {
    const account = await makeAccount(redis);
    await account.rings(2);
    expect(await account.keep(2)).toEqual({ outcome: 'kept', announced: [] });
    expect(await account.logged()).toEqual([]);
  });

  test('in vain with the signature of an earlier ring', async () => {
    const account = await makeAccount(redis);
    await account.rings(2);
    await account.announced('keys', 5);
    expect(await account.keep(1)).toEqual({ outcome: 'moved', n: 2, announced: [] });
    expect(await account.page()).toMatchObject({ keysAtMs: NOW + 5 });
  });
});
