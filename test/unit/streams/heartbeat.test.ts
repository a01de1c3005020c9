import { Heartbeat } from '../../../services/sync/streams/upkeep/heartbeat.ts';
import { Rotation } from '../../../services/sync/streams/stream/rotation.ts';
import type { Stream } from '../../../services/sync/streams/stream/stream.ts';

const { jest } = import.meta;

const MINUTE = 60_000;

interface FakeStream {
  isTooSlow: boolean;
  isLingering: boolean;
  isDegraded: boolean;
  rotateAtMs: number;
}

/** Makes the heartbeat of one stream. `ends` has the reasons for which the stream was ended. */
function setUp({ isUp = true, ...given }: Partial<FakeStream> & { isUp?: boolean }) {
  const state = { isUp };
  const ends: string[] = [];
  const destroy = jest.fn();
  const { isTooSlow = false, isLingering = false, isDegraded = false, rotateAtMs = Infinity } = given;
  const rotation = new Rotation(rotateAtMs);
  const stream = {
    ...{ rotation, isDegraded, readySent: false },
    socket: { destroy, isTooSlow: () => isTooSlow, isLingering: () => isLingering },
    end: (reason: string) => ends.push(reason),
  };
  const streams = new Map([['s', stream as unknown as Stream]]);
  const heartbeat = new Heartbeat({ streams, heartbeatMs: 4_000, isUp: () => state.isUp });
  heartbeat.start();
  return { state, rotation, ends, destroy, heartbeat };
}

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

test('a stream that had its time is sent to another replica', async () => {
  const { ends, heartbeat } = setUp({ rotateAtMs: 1 });
  await jest.advanceTimersByTimeAsync(1_000);
  expect(ends).toEqual(['rotate']);
  heartbeat.stop();
});

test('while the store is away nobody is sent away who could not come back, and then not all at once', async () => {
  const { state, ends, rotation, heartbeat } = setUp({ rotateAtMs: 1, isUp: false });
  await jest.advanceTimersByTimeAsync(10 * MINUTE);
  expect(ends).toEqual([]);

  state.isUp = true;
  expect(rotation.isDue(performance.now())).toBe(false);
  await jest.advanceTimersByTimeAsync(1 * MINUTE);
  expect(ends[0]).toBe('rotate');
  heartbeat.stop();
});

test('nor is one whose part of the store is away', async () => {
  const { ends, heartbeat } = setUp({ rotateAtMs: 1, isDegraded: true });
  await jest.advanceTimersByTimeAsync(10 * MINUTE);
  expect(ends).toEqual([]);
  heartbeat.stop();
});

test('one that should have gone a quarter of an hour ago goes: another replica may reach the store', async () => {
  const { ends, heartbeat } = setUp({ rotateAtMs: 1, isUp: false });
  await jest.advanceTimersByTimeAsync(17 * MINUTE);
  expect(ends).toContain('rotate');
  heartbeat.stop();
});

test('the slow are ended, and whoever does not take the last frame is cut', async () => {
  const slow = setUp({ isTooSlow: true });
  const lingering = setUp({ isLingering: true });
  await jest.advanceTimersByTimeAsync(1_000);

  expect(slow.ends).toEqual(['slow']);
  expect(lingering.ends).toEqual([]);
  expect(lingering.destroy).toHaveBeenCalled();
  slow.heartbeat.stop();
  lingering.heartbeat.stop();
});
