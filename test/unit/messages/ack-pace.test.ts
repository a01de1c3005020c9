import { LIMITS } from '../../../shared/contract/limits.ts';
import { AckPace } from '../../../services/sync/messages/ack-pace.ts';

const { jest } = import.meta;

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

const ignore = (): void => undefined;

/**
 * Starts this many acknowledgements of this many messages each, all at this moment. Returns after how many ms each of
 * them began.
 */
async function beginnings(pace: AckPace, count: number, messages: number): Promise<number[]> {
  const startedMs = performance.now();
  const begun: number[] = [];
  const all = Array.from({ length: count }, async (_, i) => {
    const turn = pace.turn(`account-${i}`, messages, ignore);
    if (turn !== null) await turn;
    begun.push(performance.now() - startedMs);
  });
  await jest.runAllTimersAsync();
  await Promise.all(all);
  return begun;
}

test('an acknowledgement of many messages that comes alone does not wait, nor do small ones behind it', async () => {
  const pace = new AckPace();
  expect(pace.turn('ann', 100, ignore)).toBeNull();
  expect(await beginnings(pace, 1_000, 8)).toEqual(Array.from({ length: 1_000 }, () => 0));
});

test('acknowledgements of many messages that come at once begin one after the other', async () => {
  expect(await beginnings(new AckPace(), 5, 50)).toEqual([0, 10, 20, 30, 40]);
});

test('whoever comes after a pause does not wait for what is over', async () => {
  const pace = new AckPace();
  await beginnings(pace, 3, 100);
  jest.advanceTimersByTime(20);
  expect(await beginnings(pace, 2, 50)).toEqual([0, 10]);
});

test('none waits longer than 300 ms, and those that come when that is over wait no longer for them', async () => {
  const pace = new AckPace();
  const begun = await beginnings(pace, 1_000, 100);
  expect(Math.max(...begun)).toBe(300);
  // The last of them takes its 20 ms.
  jest.advanceTimersByTime(20);
  expect(await beginnings(pace, 1, 100)).toEqual([0]);
});

test('other requests of an account need not wait with its acknowledgements, of which no more leave their place than it has devices', async () => {
  const pace = new AckPace();
  const release = jest.fn();
  const ask = () => pace.turn('ann', 100, release);
  expect(ask()).toBeNull();
  expect(release).not.toHaveBeenCalled();
  const waiting = Array.from({ length: LIMITS.devicesPerAccount }, async () => ask());
  expect(release).toHaveBeenCalledTimes(LIMITS.devicesPerAccount);
  waiting.push((async () => ask())());
  expect(release).toHaveBeenCalledTimes(LIMITS.devicesPerAccount);

  await jest.runAllTimersAsync();
  await Promise.all(waiting);
  expect(ask()).toBeNull();
  expect(ask()).not.toBeNull();
  expect(release).toHaveBeenCalledTimes(LIMITS.devicesPerAccount + 1);
});

test('however many one account sends, an acknowledgement of another one waits for the first two of them', async () => {
  const pace = new AckPace();
  const flood = Array.from({ length: 200 }, async () => pace.turn('mallory', 100, ignore));
  // One began at once, and one waits in the common line.
  expect(await beginnings(pace, 2, 50)).toEqual([40, 50]);
  await Promise.all(flood);
});
