import type { Redis } from 'ioredis';
import type { Liveness } from '../../../../services/sync/replicas/liveness.ts';
import { LIMITS } from '../../../../shared/contract/limits.ts';
import { connectTo, sharedRedisUrl } from '../../../support/redis/redis.ts';
import { NOW } from '../../../support/redis/still-clock.ts';
import { LIVENESS, makeAccount, manyRoutes, type Route, routeText } from './account.ts';

let redis: Redis;

beforeAll(() => {
  redis = connectTo(sharedRedisUrl());
});
afterAll(() => redis.disconnect());

const MOST = LIMITS.streamsPerDevice;
const ASKED = { ...LIVENESS, silent: [] as string[] };

/** Returns streams of the phone. `a` opened first, and each has a channel of its own. */
const ofPhone = (count: number): Record<string, Route> =>
  Object.fromEntries(
    ['a', 'b', 'c', 'd', 'e', 'f']
      .slice(0, count)
      .map((id, i) => [id, { channel: `bus:${id}`, opened: 10_000 - i, seen: 1_000 }]),
  );

/** Returns an account with these streams. */
async function accountWith(routes: Record<string, Route>) {
  const account = makeAccount(redis);
  await account.devices('phone');
  await account.presence({ v: NOW - 50, phone: `1${NOW - 50}` });
  await account.routes(routes);
  return account;
}

/** Returns the streams of the account that were closed. */
async function closedIn(account: Awaited<ReturnType<typeof accountWith>>): Promise<string[]> {
  const stored = Object.entries(await account.storedRoutes());
  return stored
    .filter(([, text]) => !text.endsWith('\n0'))
    .map(([id]) => id)
    .toSorted();
}

describe('a device with as many streams as it may have', () => {
  test('opens one more only after it was asked who is there', async () => {
    const account = await accountWith({ ...ofPhone(MOST), s9: { channel: 'bus:own', device: 'tablet' } });
    const before = await account.storedRoutes();
    const reply = await account.open({ liveness: { ...LIVENESS, held: ['s1', 's9'] } });
    expect({ ...reply, channels: 'channels' in reply ? reply.channels.toSorted() : [] }).toEqual({
      ...{ outcome: 'full', channels: ['bus:a', 'bus:b', 'bus:c', 'bus:d'], announced: [] },
    });
    expect(await account.storedRoutes()).toEqual(before);
  });

  test('loses its oldest, which is told, and whose late attach is refused', async () => {
    const account = await accountWith({
      ...ofPhone(MOST),
      s9: { channel: 'bus:nine', device: 'tablet', opened: 20_000 },
    });
    const { announced, ...reply } = await account.open({ liveness: ASKED });
    expect(reply).toMatchObject({ outcome: 'attached', transitions: { online: 0, offline: 0 } });
    expect(announced.filter(({ label }) => label === 'superseded')).toEqual([
      { channel: 'bus:a', label: 'superseded', payload: `x\n${account.name}\na` },
    ]);
    const told = announced.filter(({ label }) => label === 'presence').map(({ channel }) => channel);
    expect(told.toSorted()).toEqual(['bus:b', 'bus:c', 'bus:d', 'bus:nine']);
    expect(await closedIn(account)).toEqual(['a']);
    expect((await account.storedRoutes()).a).toBe(
      routeText({ channel: 'bus:a', seen: 1_000, opened: 10_000, closed: 0 }),
    );
    expect(await account.attach({ stream: 'a', attachNumber: 2 })).toMatchObject({ outcome: 'gone' });
  });

  test('loses as many as there are too many', async () => {
    const account = await accountWith(ofPhone(MOST + 2));
    await account.open({ liveness: ASKED });
    expect(await closedIn(account)).toEqual(['a', 'b', 'c']);
  });

  test.each([['a'], ['d']])(
    'loses of streams that opened together the one with the first id, whichever came first: %s',
    async (first) => {
      const account = await accountWith({ [first]: { opened: 10_000, channel: 'bus:a' } });
      for (const id of ['d', 'b', 'a', 'c']) await account.routes({ [id]: { opened: 10_000, channel: 'bus:a' } });
      await account.open({ liveness: ASKED });
      expect(await closedIn(account)).toEqual(['a']);
    },
  );

  test('loses none for a stream that it has already', async () => {
    const account = await accountWith({ ...ofPhone(MOST - 1), s1: {} });
    expect(await account.open()).toMatchObject({ outcome: 'attached' });
    expect(await closedIn(account)).toEqual([]);
  });

  test('is not one with one fewer', async () => {
    const account = await accountWith({ ...ofPhone(MOST - 1), s9: { channel: 'bus:nine', device: 'tablet' } });
    expect(await account.open()).toMatchObject({ outcome: 'attached' });
    expect(await closedIn(account)).toEqual([]);
  });
});

describe('a stream counts no more', () => {
  test.each<[string, Route, Partial<Liveness>]>([
    ['when its replica is dead', {}, { deadChannels: 'bus:z\nbus:a' }],
    ['when nobody listens on its channel', {}, { silent: ['bus:z', 'bus:a'] }],
    ['when nobody has renewed it for too long', { seen: 3_600_000 }, {}],
    ['when it is closed', { closed: 10 }, {}],
  ])('%s', async (_, route, liveness) => {
    const streams = ofPhone(MOST);
    const account = await accountWith({ ...streams, a: { ...streams.a, ...route } });
    const { announced, ...reply } = await account.open({ liveness: { ...LIVENESS, ...liveness } });
    expect(reply).toMatchObject({ outcome: 'attached' });
    expect(announced.filter(({ label }) => label === 'superseded')).toEqual([]);
  });

  test('but does when the caller holds it, on whichever channel', async () => {
    const account = await accountWith(ofPhone(MOST));
    await account.open({ liveness: { ...LIVENESS, held: ['s1', 'a'], silent: ['bus:a'] } });
    expect(await closedIn(account)).toEqual(['a']);
  });

  test('but does when another channel is silent', async () => {
    const account = await accountWith(ofPhone(MOST));
    await account.open({ liveness: { ...LIVENESS, silent: ['bus:z'] } });
    expect(await closedIn(account)).toEqual(['a']);
  });
});

describe('an account with as many streams as it may have', () => {
  const others = (count: number) =>
    manyRoutes(count, 'o', (i) => ({ channel: 'bus:two', device: `device${Math.floor(i / MOST)}` }));

  test('refuses one of another device, after it was asked who is there', async () => {
    const account = await accountWith(others(LIMITS.streamsPerAccount));
    expect(await account.open()).toMatchObject({ outcome: 'full' });
    expect(await account.open({ liveness: ASKED })).toEqual({ outcome: 'busy', announced: [] });
    expect(await redis.hlen(account.keys.routes)).toBe(LIMITS.streamsPerAccount);
  });

  test('lets a device at its own limit replace its oldest', async () => {
    const account = await accountWith({ ...ofPhone(MOST), ...others(LIMITS.streamsPerAccount - MOST) });
    expect(await account.open({ liveness: ASKED })).toMatchObject({ outcome: 'attached' });
    expect(await closedIn(account)).toEqual(['a']);
  });

  test('is not one with one fewer', async () => {
    const account = await accountWith(others(LIMITS.streamsPerAccount - 1));
    expect(await account.open()).toMatchObject({ outcome: 'attached' });
  });
});
