import type { Redis } from 'ioredis';
import { connectTo, sharedRedisUrl } from '../../../support/redis/redis.ts';
import { type makeAccount, makeWatchedAccount, type Route } from './account.ts';

let redis: Redis;

beforeAll(() => {
  redis = connectTo(sharedRedisUrl());
});
afterAll(() => redis.disconnect());

const accountWith = (routes: Record<string, Route>) => makeWatchedAccount(redis, routes);

describe('rows that are over', () => {
  test('go once no late attach of them can come', async () => {
    const account = await accountWith({ a: { closed: 90_000 }, b: { closed: 90_001 }, c: { seen: 150_001 }, d: {} });
    await account.reconcile();
    expect(Object.keys(await account.storedRoutes()).toSorted()).toEqual(['a', 'd', 'watch']);
  });

  test('go when their device is back, if no attach of them may come late', async () => {
    const account = await accountWith({
      ...{ late: { attachNumber: 3, closed: 1_000 }, done: { attachNumber: 0, closed: 1_000 } },
      other: { device: 'tablet', attachNumber: 0, closed: 1_000 },
    });
    await account.open();
    expect(Object.keys(await account.storedRoutes()).toSorted()).toEqual(['late', 'other', 's1', 'watch']);
  });

  test.each([['~My P-C'], ['~A.c']])('are found by the exact name of their device: %s', async (device) => {
    const closed = { attachNumber: 0, closed: 1_000 };
    const account = await accountWith({ a: { device, ...closed }, b: { device: '~Abc', ...closed } });
    await account.open({ device });
    expect(Object.keys(await account.storedRoutes()).toSorted()).toEqual(['b', 's1', 'watch']);
  });

  test('stay when nobody opens a stream', async () => {
    const account = await accountWith({ a: { attachNumber: 0, closed: 1_000 } });
    await account.reconcile();
    expect(Object.keys(await account.storedRoutes()).toSorted()).toEqual(['a', 'watch']);
  });
});

describe('closed rows are not kept without end', () => {
  const KEPT = 96;
  /** Makes closed streams without a device. `n1` closed last. */
  const named = (count: number, device: (i: number) => string = (i) => `~N${i}`) =>
    Object.fromEntries(
      Array.from({ length: count }, (_, i) => [`n${i + 1}`, { device: device(i + 1), closed: 1_000 + i }]),
    );
  const keptOf = async (account: ReturnType<typeof makeAccount>) =>
    Object.keys(await account.storedRoutes()).filter((id) => id !== 'watch' && id !== 's1');

  test('as many as are kept stay', async () => {
    const account = await accountWith(named(KEPT));
    await account.reconcile();
    expect(await keptOf(account)).toHaveLength(KEPT);
  });

  test.each<[string, (i: number) => string]>([
    ['first', (i) => `n${100 + i}`],
    ['last', (i) => `n${900 - i}`],
  ])('of more, the oldest go, also where their ids come %s', async (_, idOf) => {
    const account = await accountWith({});
    const ids = [...Array(KEPT + 2).keys()].map(idOf);
    await account.routes(Object.fromEntries(ids.map((id, i) => [id, { device: `~${id}`, closed: 80_000 - 10 * i }])));
    await account.reconcile();
    expect((await keptOf(account)).toSorted()).toEqual(ids.slice(2).toSorted());
  });

  test('of those that closed together, the last ids go', async () => {
    for (const ids of [
      ['x1', 'x2', 'x3'],
      ['x3', 'x2', 'x1'],
    ]) {
      const account = await accountWith(named(KEPT - 1));
      for (const id of ids) await account.routes({ [id]: { device: `~${id}`, closed: 80_000 } });
      await account.reconcile();
      expect((await keptOf(account)).filter((id) => id.startsWith('x'))).toEqual(['x1']);
    }
  });

  test('the last of a device with a row stays, because its grace counts from it', async () => {
    const account = await accountWith({
      ...named(KEPT),
      ...{ older: { closed: 20_000 }, last: { closed: 10_000 }, other: { device: 'tablet', closed: 15_000 } },
    });
    await account.reconcile();
    expect((await keptOf(account)).filter((id) => !id.startsWith('n')).toSorted()).toEqual(['last', 'other']);
  });

  test('those that go for another reason do not push others out', async () => {
    const account = await accountWith({ ...named(KEPT), done: { attachNumber: 0, closed: 10 } });
    await account.open();
    expect((await keptOf(account)).toSorted()).toEqual(Object.keys(named(KEPT)).toSorted());
  });
});
