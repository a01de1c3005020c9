import type { LeaseStore } from '../../../services/sync/hub/lease-store.ts';
import { Replica } from '../../../services/sync/hub/replica.ts';
import type { Bus } from '../../../services/sync/redis/bus.ts';
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
    onDeaf: () => undefined,
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
  // So much older than it is may a row look, until everything has been renewed.
  expect(replica.lateMs()).toBe(3 * MINUTE);
  await jest.advanceTimersByTimeAsync(2 * MINUTE);
  expect(replica.lateMs()).toBe(0);

  for (let outage = 0; outage < 2; outage++) {
    clock.isAway = true;
    await jest.advanceTimersByTimeAsync(2 * MINUTE);
    clock.isAway = false;
    await jest.advanceTimersByTimeAsync(4_000);
  }
  // A row that was not renewed in the seconds between the two was renewed by nobody for as long as both.
  expect(replica.lateMs()).toBeGreaterThanOrEqual(4 * MINUTE);
  expect(replica.lateMs()).toBeLessThan(4.2 * MINUTE);
  await replica.stop();
  jest.useRealTimers();
});
