import type { Redis } from 'ioredis';
import { connectTo, sharedRedisUrl } from '../../../support/redis/redis.ts';
import { NOW } from '../../../support/redis/still-clock.ts';
import { LIVENESS, makeAccount, routeText } from './account.ts';

let redis: Redis;

beforeAll(() => {
  redis = connectTo(sharedRedisUrl());
});
afterAll(() => redis.disconnect());

const WEEK_SECONDS = 7 * 86_400;
/** The log is kept a minute longer than clients may rely on. */
const LOG_SECONDS = 86_400 + 60;

/** Asserts that the key was given this lifetime a moment ago. */
async function expectLifetime(key: string, seconds: number) {
  const ttl = await redis.ttl(key);
  expect(ttl).toBeLessThanOrEqual(seconds);
  expect(ttl).toBeGreaterThan(seconds - 60);
}

describe('a stream that is detached', () => {
  test('is closed as of now, and keeps the time when it opened', async () => {
    const account = makeAccount(redis);
    await account.routes({ s1: { channel: 'bus:old', device: 'phone', seen: 5_000, opened: 60_000 } });
    await account.detach({ attachNumber: 3 });
    expect(await account.storedRoutes()).toEqual({ s1: routeText({ attachNumber: 3, opened: 60_000, closed: 0 }) });
    // An attach sets the lifetime, and a detach does not.
    expect(await redis.ttl(account.keys.routes)).toBe(-1);
  });

  test('stays as it is when it is detached again', async () => {
    const account = makeAccount(redis);
    const closed = { attachNumber: 3, seen: 5_000, opened: 60_000, closed: 5_000 };
    await account.routes({ s1: closed });
    await account.detach({ attachNumber: 4 });
    expect(await account.storedRoutes()).toEqual({ s1: routeText(closed) });
  });

  test('is closed for a week though it never was attached', async () => {
    const account = makeAccount(redis);
    await account.detach({ attachNumber: 2, device: '~Laptop' });
    expect(await account.storedRoutes()).toEqual({ s1: routeText({ device: '~Laptop', attachNumber: 2, closed: 0 }) });
    await expectLifetime(account.keys.routes, WEEK_SECONDS);
  });
});

describe('the route of a stream that is attached', () => {
  test('is written for a week, and its device is online', async () => {
    const account = makeAccount(redis);
    await account.devices('phone');
    const reply = await account.attach({ attachNumber: 2 });
    expect(reply).toMatchObject({
      ...{ outcome: 'attached', presenceVersion: NOW, devices: ['phone', 'Name of phone\n'] },
      ...{ states: ['phone', `1${NOW}`, 'v', String(NOW)], transitions: { online: 1, offline: 0 } },
      ...{ orphanInMs: 0, dropped: 0, nextDueInMs: null },
    });
    expect(await account.storedRoutes()).toEqual({ s1: routeText({ attachNumber: 2 }) });
    await expectLifetime(account.keys.routes, WEEK_SECONDS);
  });

  test('is renewed with all that changed, and keeps the time when it opened', async () => {
    const account = makeAccount(redis);
    await account.devices('phone', 'tablet');
    await account.routes({
      s0: { device: 'tablet' },
      s1: { channel: 'bus:old', device: '~Phone', seen: 60_000, opened: 60_000 },
    });
    const reply = await account.attach({ attachNumber: 2, liveness: { ...LIVENESS, held: ['s0', 's1'] } });
    expect(reply).toMatchObject({ outcome: 'attached', transitions: { online: 2, offline: 0 } });
    expect(await account.storedRoutes()).toEqual({
      s0: routeText({ device: 'tablet' }),
      s1: routeText({ attachNumber: 2, opened: 60_000 }),
    });
  });

  test('counts again after nobody has renewed it for too long', async () => {
    const account = makeAccount(redis);
    await account.devices('phone');
    await account.routes({ s1: { seen: 3_600_000, opened: 3_600_000 } });
    expect(await account.attach()).toMatchObject({ transitions: { online: 1, offline: 0 }, dropped: 0 });
    expect(await account.storedRoutes()).toEqual({ s1: routeText({ opened: 3_600_000 }) });
  });

  test('is announced, with its present channel, to the other replicas and its own', async () => {
    const account = makeAccount(redis);
    await account.devices('phone');
    await account.routes({ s1: { channel: 'bus:old' }, s2: { channel: 'bus:two', device: '~Laptop' } });
    const { announced } = await account.attach();
    expect(announced.map(({ channel }) => channel).toSorted()).toEqual(['bus:own', 'bus:two']);
  });

  test('stays when the same attach comes twice, and when the next comes', async () => {
    const account = makeAccount(redis);
    for (const attachNumber of [9, 9, 10]) {
      expect(await account.attach({ attachNumber })).toMatchObject({ outcome: 'attached' });
    }
  });

  test('stays as a later attach wrote it', async () => {
    const account = makeAccount(redis);
    await account.routes({ s1: { attachNumber: 10, seen: 5_000 } });
    expect(await account.attach({ attachNumber: 9 })).toEqual({ outcome: 'old', announced: [] });
    expect(await account.storedRoutes()).toEqual({ s1: routeText({ attachNumber: 10, seen: 5_000 }) });
    expect(await redis.exists(account.keys.log, account.keys.presence)).toBe(0);
  });

  test('is not written for a stream that was closed', async () => {
    const account = makeAccount(redis);
    await account.routes({ s1: { closed: 5_000 } });
    expect(await account.attach({ attachNumber: 2 })).toEqual({ outcome: 'gone', announced: [] });
    expect(await account.storedRoutes()).toEqual({ s1: routeText({ closed: 5_000 }) });
  });
});

describe('an attach answers', () => {
  test('the end of the log, which lives on from now', async () => {
    const account = makeAccount(redis);
    await account.entry(`${NOW - 2}-7`);
    await account.entry(`${NOW - 1}-7`, { prev: `${NOW - 2}-7` });
    expect(await account.attach()).toMatchObject({ top: `${NOW - 1}-7` });
    expect(await redis.xlen(account.keys.log)).toBe(2);
    await expectLifetime(account.keys.log, LOG_SECONDS);
  });

  test('a marker for nobody where the log is empty', async () => {
    const account = makeAccount(redis);
    const { top } = (await account.attach()) as { top: string };
    expect(top).toMatch(new RegExp(`^${NOW}-\\d+$`));
    expect(await redis.xrange(account.keys.log, '-', '+')).toEqual([
      [top, ['p', '', 'e', '', 't', '', 'd', '', 's', '0']],
    ]);
    expect(await account.page('0-1', 'phone')).toMatchObject({ lostReason: 'expired' });
  });

  test('presence only to a stream that does not have its version', async () => {
    const account = makeAccount(redis);
    await account.devices('phone');
    await account.routes({ s1: {} });
    await account.presence({ v: NOW - 50, phone: `1${NOW - 50}` });
    expect(await account.attach({ knownVersion: NOW - 51 })).toMatchObject({
      ...{ presenceVersion: NOW - 50, devices: ['phone', 'Name of phone\n'] },
      states: expect.arrayContaining(['phone', `1${NOW - 50}`, 'v', String(NOW - 50)]),
    });
    expect(await account.attach({ knownVersion: NOW - 50 })).toMatchObject({
      ...{ presenceVersion: NOW - 50, devices: [], states: [], announced: [] },
    });
  });

  test.each([
    ['at once, when its time has come', -5_000, 0],
    ['after the time that is left', 5_000, 5_000],
  ])('when the next job of the account is due: %s', async (_, dueInMs, nextDueInMs) => {
    const account = makeAccount(redis);
    await redis.zadd(account.keys.due, NOW + 90_000, 'later', NOW + dueInMs, 'next');
    expect(await account.attach()).toMatchObject({ nextDueInMs });
  });
});

describe('a route to the replica that leads to no stream of it', () => {
  test('goes when it is too old for a stream that has just come', async () => {
    const account = makeAccount(redis);
    await account.routes({ s1: {}, lost: { device: '~Lost', seen: 10_001 }, set: { device: '~Set', seen: -10_001 } });
    await account.presence({ v: NOW - 50, '~Lost': `1${NOW - 50}` });
    const reply = await account.attach();
    expect(reply).toMatchObject({ orphanInMs: 0, dropped: 2, transitions: { online: 0, offline: 1 } });
    expect(Object.keys(await account.storedRoutes())).toEqual(['s1']);
  });

  test('stays while it may be that of a new stream, and the caller learns when to look again', async () => {
    const account = makeAccount(redis);
    await account.routes({ a: { seen: 10_000 }, b: { seen: 4_000 }, c: { seen: 9_000 }, s1: {} });
    expect(await account.attach()).toMatchObject({ orphanInMs: 6_001, dropped: 0 });
    expect(Object.keys(await account.storedRoutes()).toSorted()).toEqual(['a', 'b', 'c', 's1']);
  });

  test('may be looked at again one millisecond after the limit', async () => {
    const account = makeAccount(redis);
    await account.routes({ a: { seen: 10_000 } });
    expect(await account.attach()).toMatchObject({ orphanInMs: 1, dropped: 0 });
  });

  test('goes too when it is to a channel that the replica had before', async () => {
    const account = makeAccount(redis);
    await account.routes({ a: { channel: 'bus:before', seen: 60_000 }, b: { channel: 'bus:other', seen: 60_000 } });
    const liveness = { ...LIVENESS, formerChannels: 'bus:first\nbus:before' };
    expect(await account.attach({ liveness })).toMatchObject({ orphanInMs: 0, dropped: 1 });
    expect(Object.keys(await account.storedRoutes()).toSorted()).toEqual(['b', 's1']);
  });

  test.each([
    ['a stream that the replica holds', { channel: 'bus:own' }, ['s1', 'other']],
    ['a stream of another replica', { channel: 'bus:other' }, ['s1']],
  ])('is not %s', async (_, { channel }, held) => {
    const account = makeAccount(redis);
    await account.routes({ other: { channel, seen: 60_000 } });
    expect(await account.attach({ liveness: { ...LIVENESS, held } })).toMatchObject({ orphanInMs: 0, dropped: 0 });
    expect(Object.keys(await account.storedRoutes()).toSorted()).toEqual(['other', 's1']);
  });

  test('is not counted when nobody has renewed it for too long', async () => {
    const account = makeAccount(redis);
    await account.routes({ other: { seen: 3_600_000 } });
    expect(await account.attach()).toMatchObject({ orphanInMs: 0, dropped: 0 });
    expect(Object.keys(await account.storedRoutes())).toEqual(['s1']);
  });
});
