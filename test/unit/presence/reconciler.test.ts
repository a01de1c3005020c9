import { makeReconciler } from '../../../services/sync/presence/reconciler.ts';
import { LocalStreams } from '../../../services/sync/streams/local-streams.ts';
import type { Stream } from '../../../services/sync/streams/stream/stream.ts';

const { jest } = import.meta;

const GRACE_MS = 5_000;

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

const of = (device: string, more: Partial<Stream> = {}): Stream =>
  ({ id: `${device}-${Math.random()}`, account: 'ann', device, readySent: true, isOver: false, ...more }) as Stream;

/** Makes a reconciler. `answers` are the ms after which to reconcile again, or a failure; then always 0. */
function setUp(...answers: (number | 'fails')[]) {
  const streams = new LocalStreams();
  const reconcileAccount = jest.fn(() => {
    const answer = answers.shift() ?? 0;
    return answer === 'fails' ? Promise.reject(new Error('away')) : Promise.resolve(answer);
  });
  const drop = jest.fn(() => Promise.resolve());
  const sweeper = { reconcileLater: jest.fn(), attachSoon: jest.fn() };
  const reconciler = makeReconciler({
    reconcileAccount,
    accounts: { drop },
    streams,
    replica: { id: 'r', channel: 'bus:r' },
    sweeper: () => sweeper,
    onFailure: () => undefined,
  });
  /** A stream of this device closes, and the store knows of it. */
  const leaves = (device: string): void => reconciler.graceBegins(of(device), GRACE_MS);
  const afterGrace = (): Promise<number> => {
    jest.advanceTimersByTime(GRACE_MS);
    return reconciler.afterGrace('ann');
  };
  return { streams, reconciler, leaves, afterGrace, reconcileAccount, drop, sweeper };
}

test('an account whose devices are all back when the grace is over is not reconciled', async () => {
  const { streams, leaves, afterGrace, reconcileAccount, drop } = setUp();
  leaves('phone');
  leaves('laptop');
  streams.add(of('phone'));
  streams.add(of('laptop'));
  expect(await afterGrace()).toBe(0);
  expect(reconcileAccount).not.toHaveBeenCalled();
  expect(drop).not.toHaveBeenCalled();
});

test.each([
  ['has not come back', []],
  ['has a stream that is not attached yet', [of('laptop', { readySent: false })]],
  ['has a stream that is ending', [of('laptop', { isOver: true })]],
])('it is where one of them %s', async (_what, others) => {
  const { streams, leaves, afterGrace, reconcileAccount } = setUp();
  leaves('phone');
  leaves('laptop');
  for (const stream of [of('phone'), ...others]) streams.add(stream);
  expect(await afterGrace()).toBe(0);
  expect(reconcileAccount).toHaveBeenCalledTimes(1);
});

test('a device that came back and left again has its grace from then on', async () => {
  const { reconciler, leaves, afterGrace, reconcileAccount } = setUp();
  leaves('phone');
  jest.advanceTimersByTime(4_000);
  leaves('phone');
  jest.advanceTimersByTime(1_000);
  expect(await reconciler.afterGrace('ann')).toBe(4_000);
  expect(reconcileAccount).not.toHaveBeenCalled();
  expect(await afterGrace()).toBe(0);
  expect(reconcileAccount).toHaveBeenCalledTimes(1);
});

test('what could not be settled is reconciled again, whoever is back by then', async () => {
  const { streams, leaves, afterGrace, reconcileAccount } = setUp(3_000, 'fails');
  leaves('phone');
  expect(await afterGrace()).toBe(3_000);
  streams.add(of('phone'));
  leaves('phone');
  await expect(afterGrace()).rejects.toThrow('away');
  expect(await afterGrace()).toBe(0);
  expect(reconcileAccount).toHaveBeenCalledTimes(3);
  leaves('phone');
  expect(await afterGrace()).toBe(0);
  expect(reconcileAccount).toHaveBeenCalledTimes(3);
});

test('an account whose last stream has just ended is reconciled where the store may have lost that, also when it is back', async () => {
  const { streams, reconciler, leaves, afterGrace, reconcileAccount, sweeper } = setUp();
  leaves('phone');
  reconciler.noteEnd('ann');
  reconciler.recentlyLeft();
  expect(sweeper.reconcileLater).toHaveBeenLastCalledWith('ann', 0);
  streams.add(of('phone'));
  expect(await afterGrace()).toBe(0);
  expect(reconcileAccount).toHaveBeenCalledTimes(1);
});
