import type { Redis } from 'ioredis';
import { LIMITS } from '../../../../shared/contract/limits.ts';
import { expectLifetimes } from '../../../support/redis/lifetime.ts';
import { connectTo, sharedRedisUrl } from '../../../support/redis/redis.ts';
import { hashOf, makeAccount, textOf } from './account.ts';

/* Rings and lists of guests come into force by compare-and-set. */

let redis: Redis;

beforeAll(() => {
  redis = connectTo(sharedRedisUrl());
});
afterAll(() => redis.disconnect());

describe('a ring comes into force', () => {
  test('after the ring whose member signed it, and everybody is told its number', async () => {
    const account = await makeAccount(redis);
    expect(await account.put(1)).toMatchObject({ outcome: 'put', announced: [{ label: 'keys' }] });
    const { announced, ...reply } = await account.put(2);
    expect(reply).toEqual({ outcome: 'put' });
    expect(announced).toEqual([{ channel: 'bus:a', label: 'keys', payload: expect.stringContaining('{"n":2}') }]);
    expect(await account.page()).toMatchObject({ n: 2, rings: [textOf(1), textOf(2)] });
    expect(await account.head()).toMatchObject({ n: 2, hash: hashOf(2), text: textOf(2) });
    expect(await account.logged()).toEqual([
      ['keys', '*', '{"n":1}'],
      ['keys', '*', '{"n":2}'],
    ]);
    expect(await redis.exists(account.keys.operation)).toBe(0);
  });

  test.each([
    ['with a number after the next', 3, 5, hashOf(3)],
    ['with the number in force', 3, 3, hashOf(3)],
    ['with a number before that', 3, 2, hashOf(1)],
    ['after another ring with the same number', 3, 4, 'hash of another'],
    ['after a ring, where there is none', 0, 1, hashOf(1)],
    ['later than the first, where there is none', 0, 2, ''],
  ])('not %s, and the device is told the number in force', async (_, top, n, replaces) => {
    const account = await makeAccount(redis);
    await account.rings(top);
    const before = await redis.hgetall(account.keys.keyring);
    expect(await account.put(n, { hash: 'new', ring: 'new', replaces })).toEqual({
      outcome: 'moved',
      n: top,
      announced: [],
    });
    expect(await redis.hgetall(account.keys.keyring)).toEqual(before);
    expect(await account.logged()).toEqual([]);
  });

  test('once, and has the same answer when it is put again', async () => {
    const account = await makeAccount(redis);
    await account.rings(2);
    expect(await account.put(2)).toEqual({ outcome: 'put', isRepeated: true, announced: [] });
    expect(await account.page()).toMatchObject({ n: 2, rings: [textOf(1), textOf(2)] });
    expect(await account.logged()).toEqual([]);
  });

  test('and keeps its answer for as long as replicas of the store are asked about it', async () => {
    const account = await makeAccount(redis);
    await expectLifetimes(redis, () => account.put(1, { rememberSeconds: 60 }), { [account.keys.operation]: 60 });
    await redis.del(account.keys.operation);
    await expectLifetimes(redis, () => account.put(1, { rememberSeconds: 60 }), { [account.keys.operation]: 60 });
  });

  test('and cancels every announced removal', async () => {
    const account = await makeAccount(redis);
    await account.rings(1);
    await account.announce('keys');
    await account.announce('account');
    await account.put(2);
    expect(await account.page()).toMatchObject({ keysAtMs: null, accountAtMs: null });
    expect(await account.jobs()).toEqual([]);
  });
});

describe('the newest rings are kept', () => {
  test.each([
    [LIMITS.rings, 1],
    [LIMITS.rings + 1, 2],
  ])('when ring %d comes, from ring %d on', async (n, first) => {
    const account = await makeAccount(redis);
    const stored = { n: n - 1, hash: hashOf(n - 1), first: 1, bytes: 12, 1: textOf(1), 2: textOf(2) };
    await redis.hset(account.keys.keyring, stored);
    await account.put(n);
    expect((await account.page()).rings[0]).toBe(textOf(first));
    expect(await redis.hexists(account.keys.keyring, '1')).toBe(first === 1 ? 1 : 0);
    expect(await redis.hexists(account.keys.keyring, '2')).toBe(1);
  });

  test('up to a number of bytes', async () => {
    const account = await makeAccount(redis);
    const ring = (bytes: number) => ({ ring: 'x'.repeat(bytes) });
    const kept = async () => (await account.page()).rings.map((text) => text.length);
    await account.put(1, ring(LIMITS.ringsBytes - 10));
    await account.put(2, ring(10));
    expect(await kept()).toEqual([LIMITS.ringsBytes - 10, 10]);
    await account.put(3, ring(1));
    expect(await kept()).toEqual([10, 1]);
    await account.put(4, ring(LIMITS.ringsBytes - 11));
    expect(await kept()).toEqual([10, 1, LIMITS.ringsBytes - 11]);
    await account.put(5, ring(11));
    expect(await kept()).toEqual([LIMITS.ringsBytes - 11, 11]);
  });

  test('and the one in force always, also if it is larger than that', async () => {
    const account = await makeAccount(redis);
    await account.rings(2);
    await account.put(3, { ring: 'x'.repeat(LIMITS.ringsBytes + 1) });
    const { n, rings } = await account.page();
    expect([n, rings.length]).toEqual([3, 1]);
  });
});

describe('a list of guests comes into force', () => {
  test('when a member of the ring in force signed it, and everybody is told', async () => {
    const account = await makeAccount(redis);
    await account.rings(2);
    expect(await account.putGuests(2)).toMatchObject({
      outcome: 'put',
      announced: [{ channel: 'bus:a', label: 'keys' }],
    });
    expect(await account.page()).toMatchObject({ n: 2, guests: 'list 1' });
    expect(await account.logged()).toEqual([['keys', '*', '{"n":2}']]);
    expect(await redis.exists(account.keys.operation)).toBe(0);
  });

  test('not when a member of an earlier ring signed it, even if it is in force', async () => {
    const account = await makeAccount(redis);
    await account.rings(2);
    expect(await account.putGuests(1)).toEqual({ outcome: 'moved', n: 2, announced: [] });
    expect(await account.page()).toMatchObject({ guests: null });
    await account.putGuests(2);
    expect(await account.putGuests(1)).toEqual({ outcome: 'moved', n: 2, announced: [] });
    expect(await account.logged()).toHaveLength(1);
  });

  test('in place of any other, or only of the one that it names', async () => {
    const account = await makeAccount(redis);
    await account.rings(1);
    const second = { guests: 'list 2', guestsHash: 'list hash 2' };
    const third = { guests: 'list 3', guestsHash: 'list hash 3' };
    expect(await account.putGuests(1, { compares: true, replaces: 'list hash 9' })).toMatchObject({
      outcome: 'moved',
      n: 1,
    });
    expect(await account.putGuests(1, { compares: true })).toMatchObject({ outcome: 'put' });
    expect(await account.putGuests(1, { ...second, compares: true })).toMatchObject({ outcome: 'moved' });
    expect(await account.putGuests(1, { ...second, compares: true, replaces: 'list hash 1' })).toMatchObject({
      outcome: 'put',
    });
    expect(await account.putGuests(1, { ...third, replaces: 'list hash 1' })).toMatchObject({ outcome: 'put' });
    expect(await account.page()).toMatchObject({ guests: 'list 3' });
  });

  test('once, and has the same answer when it is put again', async () => {
    const account = await makeAccount(redis);
    await account.rings(1);
    const list = { compares: true, rememberSeconds: 60 };
    await expectLifetimes(redis, () => account.putGuests(1, list), { [account.keys.operation]: 60 });
    expect(await account.putGuests(1, list)).toEqual({ outcome: 'put', isRepeated: true, announced: [] });
    expect(await account.logged()).toHaveLength(1);
  });
});
