import type { Redis } from 'ioredis';
import { deviceRename } from '../../../../services/sync/devices/scripts.ts';
import { connectTo, sharedRedisUrl } from '../../../support/redis/redis.ts';
import { NOW, runScript } from '../../../support/redis/still-clock.ts';
import {
  BEFORE,
  GRACE_MS,
  LIVENESS,
  makeAccount,
  makeWatchedAccount,
  ONLINE,
  type Route,
  routeText,
} from './account.ts';

let redis: Redis;

beforeAll(() => {
  redis = connectTo(sharedRedisUrl());
});
afterAll(() => redis.disconnect());

const accountWith = (routes: Record<string, Route>, states: Record<string, string | number> = {}) =>
  makeWatchedAccount(redis, routes, states);

const WATCHER = { '~Watcher': ONLINE };
const UNCHANGED = { transitions: { online: 0, offline: 0 }, announced: [] };
const offline = (againInMs = 0) => ({ againInMs, transitions: { online: 0, offline: 1 } });
const online = { againInMs: 0, transitions: { online: 1, offline: 0 } };

describe('a device comes online', () => {
  test.each<[string, Record<string, string>]>([
    ['for the first time', {}],
    ['again', { phone: `0${BEFORE}` }],
  ])('%s with its stream', async (_, states) => {
    const account = await accountWith({ s1: { seen: 1_000 } }, states);
    expect(await account.reconcile()).toMatchObject(online);
    expect(await account.storedPresence()).toEqual({ ...WATCHER, phone: `1${NOW}`, v: String(NOW) });
  });

  test('and stays so: nothing changes, and nobody is told', async () => {
    const account = await accountWith({ s1: { seen: 1_000 } }, { phone: ONLINE });
    expect(await account.reconcile()).toEqual({ againInMs: 0, ...UNCHANGED });
    expect(await account.storedPresence()).toEqual({ ...WATCHER, phone: ONLINE, v: String(BEFORE) });
  });

  test('only with a row: a device that was removed does not', async () => {
    const account = await accountWith({ s1: { device: 'removed' } });
    expect(await account.reconcile()).toEqual({ againInMs: 0, ...UNCHANGED });
    expect(await account.storedPresence()).toEqual({ ...WATCHER, v: String(BEFORE) });
  });

  test('while another goes offline, and both count', async () => {
    const account = await accountWith({ s1: {} }, { tablet: ONLINE });
    expect(await account.reconcile()).toMatchObject({ transitions: { online: 1, offline: 1 } });
    expect(await account.storedPresence()).toMatchObject({ phone: `1${NOW}`, tablet: `0${NOW}` });
  });

  test('and several at once', async () => {
    const account = await accountWith({ s1: {}, s2: { device: 'tablet' } }, { phone: `0${BEFORE}` });
    expect(await account.reconcile()).toMatchObject({ transitions: { online: 2, offline: 0 } });
  });
});

describe('a device goes offline', () => {
  test.each<[string, Route, number]>([
    ['when the grace of its last stream is over', { seen: 45_000, closed: GRACE_MS }, NOW - GRACE_MS],
    [
      'at once when its stream closed at a time that is still to come, because the clock was set back',
      { closed: -1 },
      NOW + 1,
    ],
    ['though its row was seen after it was closed, by another clock', { seen: 5, closed: GRACE_MS }, NOW - 5],
    ['when nobody has renewed its row for too long', { seen: 150_001 }, NOW - 150_001],
  ])('%s', async (_, route, lastSeen) => {
    const account = await accountWith({ s1: route }, { phone: ONLINE });
    expect(await account.reconcile()).toMatchObject(offline());
    expect(await account.storedPresence()).toEqual({ ...WATCHER, phone: `0${lastSeen}`, v: String(NOW) });
  });

  test('as of now where nothing says when it was seen', async () => {
    const account = await accountWith({}, { phone: ONLINE });
    expect(await account.reconcile()).toMatchObject(offline());
    expect(await account.storedPresence()).toMatchObject({ phone: `0${NOW}` });
  });

  test('as of the last that any of its ended streams saw of it', async () => {
    const rows = { a: { seen: 160_000 }, b: { seen: 151_000 }, c: { seen: 170_000 } };
    const closed = { d: { seen: 190_000, closed: 89_000 }, e: { seen: 70_000, closed: 60_000 }, f: { closed: 80_000 } };
    for (const [routes, lastSeen] of [
      [rows, NOW - 151_000],
      [{ ...rows, ...closed, f: { seen: 80_000, closed: 80_000 } }, NOW - 60_000],
    ] as const) {
      const account = await accountWith(routes, { phone: ONLINE });
      expect(await account.reconcile()).toMatchObject(offline());
      expect(await account.storedPresence()).toMatchObject({ phone: `0${lastSeen}` });
    }
  });

  test('with the replica that held its stream', async () => {
    const account = await accountWith({ s1: { channel: 'bus:dead', seen: 5_000 } }, { phone: ONLINE });
    expect(await account.reconcile(['bus:other'])).toMatchObject(UNCHANGED);
    expect(await account.reconcile(['bus:other', 'bus:dead'])).toMatchObject(offline());
    expect(await account.storedPresence()).toMatchObject({ phone: `0${NOW - 5_000}` });
    expect(Object.keys(await account.storedRoutes())).toEqual(['watch']);
  });

  test.each([
    [150_001, online],
    [150_002, offline()],
  ])('later where nobody could renew rows for 1 ms: renewed %d ms ago', async (seen, changed) => {
    const account = await accountWith({ s1: { seen } }, { phone: changed === online ? `0${BEFORE}` : ONLINE });
    expect(await account.reconcile([], 1)).toMatchObject(changed);
  });

  test('not while another stream of it is open', async () => {
    const account = await accountWith({ s1: { closed: 60_000 }, s2: {} }, { phone: ONLINE });
    expect(await account.reconcile()).toEqual({ againInMs: 0, ...UNCHANGED });
  });

  test('not at the moment in which its last stream closes', async () => {
    const account = await accountWith({ s1: { closed: 0 } }, { phone: ONLINE });
    expect(await account.reconcile()).toEqual({ againInMs: GRACE_MS, ...UNCHANGED });
  });

  test('not within the grace, and the caller learns when the first grace ends', async () => {
    const account = await accountWith(
      { a: { closed: 60_000 }, b: { closed: 10_000 }, c: { device: 'tablet', closed: GRACE_MS - 1 } },
      { phone: ONLINE, tablet: ONLINE },
    );
    expect(await account.reconcile()).toEqual({ againInMs: 1, ...UNCHANGED });
    expect(await account.storedPresence()).toMatchObject({ phone: ONLINE, tablet: ONLINE, v: String(BEFORE) });
  });

  test.each([[1_000], [20_000]])('later than another whose grace ends first: closed %d ms ago', async (closed) => {
    const account = await accountWith(
      { a: { closed: 10_000 }, b: { device: 'tablet', closed } },
      { phone: ONLINE, tablet: ONLINE },
    );
    expect(await account.reconcile()).toMatchObject({ againInMs: GRACE_MS - Math.max(10_000, closed) });
  });

  test('and stays so', async () => {
    const account = await accountWith({ s1: { closed: 60_000 } }, { phone: `0${BEFORE}` });
    expect(await account.reconcile()).toEqual({ againInMs: 0, ...UNCHANGED });
  });

  test('without a grace when it was removed, and leaves nothing', async () => {
    const account = await accountWith({ s1: { device: 'removed', closed: 10 } }, { removed: ONLINE });
    expect(await account.reconcile()).toMatchObject(offline());
    expect(await account.storedPresence()).toEqual({ ...WATCHER, v: String(NOW) });
  });

  test('as a stream without a device does, which leaves nothing after its grace', async () => {
    const account = await accountWith({ s1: { device: '~Laptop', closed: 10_000 } }, { '~Laptop': ONLINE });
    expect(await account.reconcile()).toEqual({ againInMs: 20_000, ...UNCHANGED });
    await account.routes({ s1: { device: '~Laptop', closed: GRACE_MS } });
    expect(await account.reconcile()).toMatchObject(offline());
    expect(await account.storedPresence()).toEqual({ ...WATCHER, v: String(NOW) });
  });
});

describe('an opening stream is told the states of all', () => {
  test('those that changed and those that did not', async () => {
    const account = await accountWith({}, { tablet: `0${BEFORE}`, gone: ONLINE });
    const { states } = (await account.open()) as unknown as { states: string[] };
    expect(states.slice(-2)).toEqual(['v', String(NOW)]);
    expect(Object.fromEntries(states.map((word, i) => [word, states[i + 1]]).filter((_, i) => i % 2 === 0))).toEqual({
      ...{ '~Watcher': ONLINE, tablet: `0${BEFORE}`, phone: `1${NOW}`, v: String(NOW) },
    });
  });

  test('also when nothing has changed', async () => {
    const account = makeAccount(redis);
    await account.devices('phone');
    await account.presence({ v: BEFORE, phone: ONLINE });
    expect(await account.open()).toMatchObject({
      ...{ presenceVersion: BEFORE, states: ['phone', ONLINE, 'v', String(BEFORE)], announced: [] },
    });
  });
});

describe('a reader gets', () => {
  const pairs = (flat: string[]) => Object.fromEntries(flat.flatMap((key, i) => (i % 2 ? [] : [[key, flat[i + 1]]])));

  test('the rows, and what was announced of them', async () => {
    const account = await accountWith({}, { phone: ONLINE });
    const { devices, states } = await account.readPresence();
    expect(pairs(devices)).toEqual({ phone: 'Name of phone\n', tablet: 'Name of tablet\n' });
    expect(pairs(states)).toEqual({ ...WATCHER, phone: ONLINE, v: String(BEFORE) });
  });

  test('nothing of an account that has nothing', async () => {
    expect(await makeAccount(redis).readPresence()).toEqual({ devices: [], states: [], announced: [] });
  });
});

describe('the version of presence', () => {
  test('rises above the last, also when the clock was set back', async () => {
    const account = await accountWith({ s1: {} }, { v: NOW + 5 });
    await account.reconcile();
    expect(await account.storedPresence()).toMatchObject({ v: String(NOW + 6) });
  });

  test('is given to an account that has none', async () => {
    const account = makeAccount(redis);
    expect(await account.reconcile()).toEqual({ againInMs: 0, ...UNCHANGED });
    expect(await account.storedPresence()).toEqual({ v: String(NOW) });
    expect(await redis.ttl(account.keys.presence)).toBeGreaterThan(90 * 86_400 - 60);
    expect(await redis.ttl(account.keys.presence)).toBeLessThanOrEqual(90 * 86_400);
  });

  test('renews its lifetime with the first version of a day, and with no other', async () => {
    // NOW lies in a day with an odd number.
    const yesterday = NOW - (NOW % 86_400_000) - 1;
    for (const [v, renews] of [
      [yesterday, true],
      [yesterday + 1, false],
    ] as const) {
      const account = await accountWith({ s1: {} }, { v });
      await redis.expire(account.keys.presence, 1_000);
      await account.reconcile();
      expect((await redis.ttl(account.keys.presence)) > 1_000).toBe(renews);
    }
  });
});

describe('a version is announced', () => {
  /** Returns what the watcher hears of an account with this many devices, and this many streams without one. */
  async function heard(devices: number, names: number) {
    const account = makeAccount(redis);
    await account.devices(...Array.from({ length: devices }, (_, i) => `device${i}`));
    await account.routes(
      Object.fromEntries(
        Array.from({ length: devices + names }, (_, i) => [
          `s${i}`,
          { channel: 'bus:watch', device: i < devices ? `device${i}` : `~N${i}` },
        ]),
      ),
    );
    const { announced } = await account.reconcile();
    const [{ channel, label, payload } = { channel: '', label: '', payload: '' }, ...more] = announced;
    expect({ channel, label, more }).toEqual({ channel: 'bus:watch', label: 'presence', more: [] });
    const [word, name, version, json] = payload.split('\n');
    expect({ word, name, version }).toEqual({ word: 'p', name: account.name, version: String(NOW) });
    return json === undefined ? null : (JSON.parse(json.replaceAll('{}', '[]')) as Record<string, string[]>);
  }

  test.each([
    [1, 0],
    [16, 0],
    [15, 1],
    [1, 15],
  ])('with rows and states: %d devices, %d names', async (devices, names) => {
    const carried = await heard(devices, names);
    expect(carried?.devices).toHaveLength(2 * devices);
    expect(carried?.states).toHaveLength(2 * (devices + names) + 2);
    expect(carried?.states?.slice(-2)).toEqual(['v', String(NOW)]);
  });

  test.each([
    [0, 1],
    [17, 0],
    [16, 1],
  ])('without them, to be read by each replica: %d devices, %d names', async (devices, names) => {
    expect(await heard(devices, names)).toBeNull();
  });

  test('without them by what changes only a row, such as a new name', async () => {
    const account = await accountWith({});
    const { devices, routes, log, presence } = account.keys;
    const on = { devices, routes, log, presence, operation: `${routes}:op`, rate: `${routes}:rate` };
    const args = { caller: 'phone', device: 'phone', name: 'New name' };
    const { announced } = await runScript(redis, deviceRename, [], on, args);
    expect(announced.filter(({ label }) => label === 'presence')).toEqual([
      { channel: 'bus:watch', label: 'presence', payload: `p\n${account.name}\n${NOW}` },
    ]);
    expect(await account.storedPresence()).toMatchObject({ v: String(NOW) });
  });

  test('once to each channel with an open stream', async () => {
    const account = await accountWith({
      ...{ a: { channel: 'bus:two' }, b: { channel: 'bus:two' }, c: { channel: 'bus:gone', seen: 150_001 } },
      ...{ d: { channel: 'bus:shut', closed: 10 }, e: { channel: 'bus:dead' } },
    });
    const { announced } = await account.reconcile(['bus:dead']);
    expect(announced.map(({ channel }) => channel).toSorted()).toEqual(['bus:two', 'bus:watch']);
  });

  test('to the other streams of a replica, not for the one whose attach returns it', async () => {
    const account = await accountWith(
      { s2: { channel: 'bus:own', device: '~Laptop', seen: 1_000 } },
      { '~Laptop': ONLINE },
    );
    const { announced } = await account.open({ channel: 'bus:new', liveness: { ...LIVENESS, held: ['s1', 's2'] } });
    expect(announced.map(({ channel }) => channel).toSorted()).toEqual(['bus:own', 'bus:watch']);
    expect((await account.storedRoutes()).s1).toBe(routeText({ channel: 'bus:new' }));
  });
});
