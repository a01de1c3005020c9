import type { LeaseStore } from '../../../services/sync/hub/lease-store.ts';
import { Replica } from '../../../services/sync/hub/replica.ts';
import type { Bus } from '../../../services/sync/redis/bus.ts';
import { makeKeys } from '../../../services/sync/redis/keys.ts';

const { jest } = import.meta;

const MINUTE = 60_000;

test('a clock of the store that is set is noticed once, one that runs a little fast is not', async () => {
  jest.useFakeTimers();
  const clock = { aheadMs: 1_000_000 };
  const onClockSet = jest.fn();
  const renew = () => {
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
  await replica.stop();
  jest.useRealTimers();
});
