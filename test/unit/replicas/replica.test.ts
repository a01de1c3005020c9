import type { LeaseStore } from '../../../services/sync/replicas/lease-store.ts';
import { Replica } from '../../../services/sync/replicas/replica.ts';
import type { Bus } from '../../../services/sync/redis/bus/bus.ts';
import { makeKeys } from '../../../services/sync/redis/keys.ts';

const { jest } = import.meta;

const MINUTE = 60_000;

test('a clock of the store that is set is noticed once, one that runs a little fast is not; an outage is remembered', async () => {
  jest.useFakeTimers();
  const clock = { aheadMs: 1_000_000, isAway: false };
  const onClockSet = jest.fn();
  const renew = () => {
    if (clock.isAway) return Promise.reject(new Error('away'));
    const maps = { counters: new Map([[replica.id, '1']]), reaping: new Map() };
    return Promise.resolve({ ...maps, renewed: true, revocations: '', atMs: performance.now() + clock.aheadMs });
  };
  const done = () => Promise.resolve();
  const replica: Replica = new Replica({
    leases: { renew, start: done, nonce: done, claim: () => Promise.resolve(true) } as unknown as LeaseStore,
    bus: { listen: done, silentForMs: 0 } as unknown as Bus,
    keys: makeKeys('test'),
    onNewId: () => undefined,
    onRevocations: () => undefined,
    onBeat: () => undefined,
    onSilentSubscriber: () => undefined,
    onClockSet,
    isUp: () => true,
  });
  await replica.start();
  for (let i = 0; i < 60; i++) {
    clock.aheadMs += 500;
    await jest.advanceTimersByTimeAsync(2_000);
  }
  expect(onClockSet).not.toHaveBeenCalled();

  clock.aheadMs -= 3 * MINUTE;
  await jest.advanceTimersByTimeAsync(1 * MINUTE);
  expect(onClockSet).toHaveBeenCalledTimes(1);
  // Until everything has been renewed, a row may look this much older than it is.
  expect(replica.lateMs()).toBe(3 * MINUTE);
  await jest.advanceTimersByTimeAsync(2 * MINUTE);
  expect(replica.lateMs()).toBe(0);

  for (let outage = 0; outage < 2; outage++) {
    clock.isAway = true;
    await jest.advanceTimersByTimeAsync(2 * MINUTE);
    clock.isAway = false;
    await jest.advanceTimersByTimeAsync(4_000);
  }
  // If a row was not renewed in the seconds between the two outages, nobody renewed it for as long as both.
  expect(replica.lateMs()).toBeGreaterThanOrEqual(4 * MINUTE);
  expect(replica.lateMs()).toBeLessThan(4.2 * MINUTE);
  await replica.stop();
  jest.useRealTimers();
});

describe('a replica on its bus', () => {
  /** Starts a replica whose beats are 2 s. The test decides what the store takes and what is heard. */
  async function startAlone() {
    jest.useFakeTimers();
    const store = { takes: true, takesNonces: true, hasLease: true, renewed: 0 };
    let isUp = true;
    const [onSilentSubscriber, onNewId] = [jest.fn(), jest.fn()];
    const onBeat = jest.fn((ok: boolean) => {
      isUp = ok;
    });
    let heardMs = performance.now();
    const done = () => Promise.resolve();
    const away = () => Promise.reject(new Error('away'));
    const renew = () => {
      store.renewed += 1;
      const maps = { counters: new Map([[replica.id, '1']]), reaping: new Map() };
      return store.takes
        ? Promise.resolve({ ...maps, renewed: store.hasLease, revocations: '', atMs: performance.now() })
        : away();
    };
    const bus = {
      listen: done,
      get silentForMs() {
        return performance.now() - heardMs;
      },
    };
    const nonce = () => (store.takes && store.takesNonces ? done() : away());
    const replica: Replica = new Replica({
      leases: { renew, start: done, nonce, claim: () => Promise.resolve(true) } as unknown as LeaseStore,
      bus: bus as unknown as Bus,
      keys: makeKeys('test'),
      ...{ onRevocations: () => undefined, onClockSet: () => undefined, isUp: () => isUp },
      ...{ onBeat, onSilentSubscriber, onNewId },
    });
    const hear = () => {
      heardMs = performance.now();
    };
    const beAway = async (ms: number) => {
      store.takes = false;
      await jest.advanceTimersByTimeAsync(ms);
      store.takes = true;
    };
    return { replica, store, onSilentSubscriber, onBeat, onNewId, hear, beAway };
  }

  afterEach(() => jest.useRealTimers());

  test('with a subscriber that hears nothing rebuilds it within 8 s', async () => {
    const { replica, onSilentSubscriber } = await startAlone();
    await replica.start();
    await jest.advanceTimersByTimeAsync(8_100);
    expect(onSilentSubscriber).toHaveBeenCalledTimes(1);
    await replica.stop();
  });

  test('whose commands were swallowed by the same hole does so as soon as the store takes a nonce again', async () => {
    const { replica, onSilentSubscriber, beAway } = await startAlone();
    await replica.start();
    await beAway(20_000);
    expect(onSilentSubscriber).not.toHaveBeenCalled();
    await jest.advanceTimersByTimeAsync(4_100);
    expect(onSilentSubscriber).toHaveBeenCalledTimes(1);
    await replica.stop();
  });

  test('whose subscriber came back with the store keeps it', async () => {
    const { replica, onSilentSubscriber, hear, beAway } = await startAlone();
    await replica.start();
    await beAway(20_000);
    await jest.advanceTimersByTimeAsync(2_100);
    hear();
    await jest.advanceTimersByTimeAsync(2_000);
    expect(onSilentSubscriber).not.toHaveBeenCalled();
    await replica.stop();
  });

  test('keeps its id when the store was away for long, though it took no nonce', async () => {
    const { replica, onNewId, beAway } = await startAlone();
    await replica.start();
    await beAway(10_000);
    replica.beatAgain();
    await jest.advanceTimersByTimeAsync(6_000);
    expect(onNewId).not.toHaveBeenCalled();
    await replica.stop();
  });

  test('whose channel cannot be reached takes a new id within 8 s, and as long after again', async () => {
    const { replica, store, onNewId } = await startAlone();
    store.takesNonces = false;
    await replica.start();
    const first = replica.id;
    await jest.advanceTimersByTimeAsync(14_100);
    expect(onNewId.mock.calls).toEqual([[first, 'unreachable channel']]);
    const second = replica.id;
    await jest.advanceTimersByTimeAsync(2_000);
    store.takesNonces = true;
    await jest.advanceTimersByTimeAsync(20_000);
    expect(onNewId.mock.calls).toEqual([
      [first, 'unreachable channel'],
      [second, 'unreachable channel'],
    ]);
    await replica.stop();
  });

  test('that lost its lease too does not leave the new channel for what the former one did not take', async () => {
    const { replica, store, onNewId } = await startAlone();
    await replica.start();
    const first = replica.id;
    store.takesNonces = false;
    await jest.advanceTimersByTimeAsync(4_100);
    store.hasLease = false;
    await jest.advanceTimersByTimeAsync(2_000);
    store.hasLease = true;
    await jest.advanceTimersByTimeAsync(4_000);
    expect(onNewId.mock.calls).toEqual([[first, 'lease lost']]);
    await replica.stop();
  });

  test('beats at once when commands have a new connection, but neither before its start nor after its end', async () => {
    const { replica, store, onBeat, beAway } = await startAlone();
    replica.beatAgain();
    expect(store.renewed).toBe(0);
    await replica.start();
    await beAway(2_000);
    expect(onBeat).toHaveBeenLastCalledWith(false, expect.anything());
    replica.beatAgain();
    await jest.advanceTimersByTimeAsync(0);
    expect(onBeat).toHaveBeenLastCalledWith(true);
    await replica.stop();
    const before = store.renewed;
    replica.beatAgain();
    expect(store.renewed).toBe(before);
  });
});

test('a new id that got no lease is kept, and the one after it too, until one has a lease: it listens nowhere else', async () => {
  jest.useFakeTimers();
  const listening: string[] = [];
  const leased = new Set<string>();
  const store = { startsFail: false };
  const onNewId = jest.fn();
  const done = () => Promise.resolve();
  const replica: Replica = new Replica({
    leases: {
      renew: (id: string) =>
        Promise.resolve({
          ...{ counters: new Map([...leased].map((held) => [held, '1'])), reaping: new Map() },
          ...{ renewed: leased.has(id), revocations: '', atMs: performance.now() },
        }),
      start: (id: string) =>
        store.startsFail ? Promise.reject(new Error('away')) : Promise.resolve(void leased.add(id)),
      ...{ nonce: done, claim: () => Promise.resolve(true), isHeard: () => Promise.resolve(true) },
    } as unknown as LeaseStore,
    bus: {
      listen: (channel: string) => Promise.resolve(void listening.push(channel)),
      silentForMs: 0,
    } as unknown as Bus,
    keys: makeKeys('test'),
    ...{
      onRevocations: () => undefined,
      onBeat: () => undefined,
      onSilentSubscriber: () => undefined,
      onClockSet: () => undefined,
    },
    ...{ onNewId, isUp: () => true },
  });
  await replica.start();
  const first = replica.id;

  leased.clear();
  store.startsFail = true;
  await jest.advanceTimersByTimeAsync(4_000);
  expect(onNewId.mock.calls.map(([old]) => old)).toEqual([first, expect.not.stringContaining(first)]);
  expect(listening.at(-1)).toBe(replica.channel);
  store.startsFail = false;
  await jest.advanceTimersByTimeAsync(2_000);
  expect(listening.at(-1)).toBe(replica.channel);
  expect([...leased]).toEqual([replica.id]);
  await jest.advanceTimersByTimeAsync(10_000);
  expect(onNewId).toHaveBeenCalledTimes(3);
  await replica.stop();
  jest.useRealTimers();
});
