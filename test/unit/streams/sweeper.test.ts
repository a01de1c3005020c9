import { LocalStreams } from '../../../services/sync/streams/local-streams.ts';
import { Attaches } from '../../../services/sync/streams/stream/attaches.ts';
import type { Stream } from '../../../services/sync/streams/stream/stream.ts';
import { Sweeper } from '../../../services/sync/streams/upkeep/sweeper.ts';

const { jest } = import.meta;

const QUIET = {
  sweepMs: 2_000,
  onAttachFailed: () => 1,
  reconcile: () => Promise.resolve(0),
  liveReplicas: () => 1,
  isUp: () => true,
  onFailure: () => undefined,
};

/** Makes as much of a stream as the sweeper looks at. */
const streamOf = (id: string, account = 'a'): Stream => ({ id, account, attaches: new Attaches() }) as Stream;

/** Holds these streams, or this many. */
function streamsOf(given: number | readonly Stream[]): LocalStreams {
  const streams = new LocalStreams();
  const all = typeof given === 'number' ? Array.from({ length: given }, (_, i) => streamOf(String(i))) : given;
  for (const stream of all) streams.add(stream);
  return streams;
}

test('streams whose part of the store refuses do not keep the others from being swept, or ends from being told', async () => {
  const streams = new LocalStreams();
  const add = (id: string, account: string) => streams.add(streamOf(id, account));
  for (let i = 0; i < 3_000; i++) add(`refused-${i}`, 'refused');
  for (let i = 0; i < 30; i++) add(`swept-${i}`, 'swept');
  const [sweeps, ends] = [new Map<string, number>(), new Map<string, number>()];
  let settle = (): void => undefined;
  const settled = new Promise<void>((resolve) => {
    settle = resolve;
  });
  const count = (counts: Map<string, number>, { id }: Stream) => {
    counts.set(id, (counts.get(id) ?? 0) + 1);
    const all = [...streams.all.values()].filter(({ account }) => account === 'swept');
    if (all.every((one) => (sweeps.get(one.id) ?? 0) >= 3) && (ends.get('leaving') ?? 0) >= 3) settle();
  };
  const sweeper = new Sweeper({
    ...QUIET,
    streams,
    attach: (stream) => {
      if (stream.account === 'refused') return Promise.reject(new Error('NOREPLICAS'));
      count(sweeps, stream);
      return Promise.resolve(true);
    },
    detach: (stream) => {
      count(ends, stream);
      return Promise.reject(new Error('NOREPLICAS'));
    },
  });
  sweeper.start();
  sweeper.attachAll('test');
  sweeper.detachSoon(streamOf('leaving', 'refused'));
  await settled;
  expect(ends.get('leaving')).toBeGreaterThanOrEqual(3);
  sweeper.stop();
});

test('one that was still opening when all were to be attached counts once it has been attached since', async () => {
  const stream = streamOf('opening');
  let isOpen = false;
  let tried = (): void => undefined;
  const wasTried = new Promise<void>((resolve) => {
    tried = resolve;
  });
  const sweeper = new Sweeper({
    ...QUIET,
    // No sweep comes while this runs.
    sweepMs: 3_600_000,
    streams: streamsOf([stream]),
    attach: () => {
      tried();
      return Promise.resolve(isOpen);
    },
    detach: () => Promise.resolve(),
  });
  sweeper.start();
  let isSettled = false;
  sweeper.attachAll('test');
  const all = sweeper.allAttached().then(() => {
    isSettled = true;
  });
  await wasTried;
  await new Promise(setImmediate);
  const wasSettled = isSettled;
  isOpen = true;
  sweeper.attachSoon(stream);
  await all;
  expect(wasSettled).toBe(false);
  sweeper.stop();
});

test('whoever waits for all does not wait for a stream that closed before the store knew of it', async () => {
  const stream = streamOf('refused');
  const sweeper = new Sweeper({
    ...QUIET,
    streams: streamsOf([stream]),
    attach: () => Promise.reject(new Error('away')),
    detach: () => Promise.resolve(),
  });
  sweeper.attachAll('test');
  const all = sweeper.allAttached();
  sweeper.forget(stream);
  await expect(all).resolves.toBeUndefined();
});

test('an account is reconciled when the first of its devices is due, however many close after it', async () => {
  jest.useFakeTimers();
  const reconcile = jest.fn<Promise<number>, [account: string]>(() => Promise.resolve(0));
  const sweeper = new Sweeper({
    ...QUIET,
    streams: new LocalStreams(),
    attach: () => Promise.resolve(true),
    detach: () => Promise.resolve(),
    reconcile,
  });
  sweeper.start();
  for (let i = 0; i < 3; i++) {
    sweeper.reconcileLater('a', 5_000);
    await jest.advanceTimersByTimeAsync(2_000);
  }
  expect(reconcile.mock.calls).toEqual([['a']]);
  sweeper.stop();
  jest.useRealTimers();
});

test('streams that close all at once are detached some at a time, the next with each answer, and all of them', async () => {
  const answers: (() => void)[] = [];
  const sweeper = new Sweeper({
    ...QUIET,
    streams: new LocalStreams(),
    attach: () => Promise.resolve(true),
    detach: () => new Promise<void>((resolve) => answers.push(resolve)),
  });
  for (let i = 0; i < 5_000; i++) sweeper.detachSoon(streamOf(String(i)));
  expect(answers).toHaveLength(100);
  for (let i = 0; i < 5_000; i++) {
    answers[i]?.();
    await Promise.resolve();
    await Promise.resolve();
    expect(answers).toHaveLength(Math.min(5_000, 101 + i));
  }
  expect(sweeper.settled).toBe(true);
});

test('while the store is away no end is told to it, and each is when it is back', async () => {
  jest.useFakeTimers();
  let isUp = false;
  const detach = jest.fn(() => Promise.resolve());
  const sweeper = new Sweeper({
    ...QUIET,
    isUp: () => isUp,
    streams: new LocalStreams(),
    attach: () => Promise.resolve(true),
    detach,
  });
  sweeper.start();
  for (let i = 0; i < 300; i++) sweeper.detachSoon(streamOf(String(i)));
  await jest.advanceTimersByTimeAsync(1_000);
  expect(detach).not.toHaveBeenCalled();
  expect(sweeper.settled).toBe(false);
  isUp = true;
  await jest.advanceTimersByTimeAsync(1_000);
  expect(detach).toHaveBeenCalledTimes(300);
  expect(sweeper.settled).toBe(true);
  sweeper.stop();
  jest.useRealTimers();
});

test('all streams are swept in time where a hundred replicas share what the store may be asked, at quiet ticks too', async () => {
  jest.useFakeTimers();
  const swept = new Set<string>();
  const sweeper = new Sweeper({
    ...QUIET,
    liveReplicas: () => 100,
    sweepMs: 60_000,
    streams: streamsOf(5_000),
    attach: ({ id }) => Promise.resolve(swept.add(id).size > 0),
    detach: () => Promise.resolve(),
  });
  sweeper.start();
  await jest.advanceTimersByTimeAsync(61_000);
  sweeper.stop();
  jest.useRealTimers();
  expect(swept.size).toBe(5_000);
});

test('all streams are swept in time, however late the ticks come', async () => {
  jest.useFakeTimers();
  const clock = performance.now.bind(performance);
  // A tick comes every 100 ms, and three of four are lost.
  const slow = jest.spyOn(performance, 'now').mockImplementation(() => 4 * clock());
  const swept = new Set<string>();
  const sweeper = new Sweeper({
    ...QUIET,
    sweepMs: 60_000,
    streams: streamsOf(1_000),
    attach: ({ id }) => Promise.resolve(swept.add(id).size > 0),
    detach: () => Promise.resolve(),
  });
  sweeper.start();
  await jest.advanceTimersByTimeAsync(15_100);
  sweeper.stop();
  slow.mockRestore();
  jest.useRealTimers();
  expect(swept.size).toBe(1_000);
});

test('a stream that was attached within the last quarter of a sweep is passed over, and its turn comes with the next sweep', async () => {
  jest.useFakeTimers();
  const streams = streamsOf(100);
  const swept: string[] = [];
  const sweeper = new Sweeper({
    ...QUIET,
    sweepMs: 60_000,
    streams,
    attach: (stream) => {
      swept.push(stream.id);
      stream.attaches.sent();
      return Promise.resolve(true);
    },
    detach: () => Promise.resolve(),
  });
  sweeper.start();
  for (const stream of streams.all.values()) stream.attaches.sent();
  await jest.advanceTimersByTimeAsync(14_900);
  expect(swept).toEqual([]);
  await jest.advanceTimersByTimeAsync(60_400);
  sweeper.stop();
  jest.useRealTimers();
  expect(new Set(swept).size).toBe(100);
});

test('streams that are here for long are swept in time, however many come and go meanwhile', async () => {
  jest.useFakeTimers();
  const streams = streamsOf(100);
  const lastMs = new Map([...streams.all.keys()].map((id) => [id, performance.now()]));
  let longestMs = 0;
  const note = (id: string): void => {
    const before = lastMs.get(id);
    if (before === undefined) return;
    longestMs = Math.max(longestMs, performance.now() - before);
    lastMs.set(id, performance.now());
  };
  const sweeper = new Sweeper({
    ...QUIET,
    sweepMs: 60_000,
    streams,
    attach: (stream) => {
      stream.attaches.sent();
      note(stream.id);
      return Promise.resolve(true);
    },
    detach: () => Promise.resolve(),
  });
  sweeper.start();
  // Streams come six times as fast as they are swept, and each stays for ten seconds.
  for (let i = 0; i < 3_000; i++) {
    const passing = streamOf(`passing-${i}`);
    passing.attaches.sent();
    streams.add(passing);
    const left = streams.all.get(`passing-${i - 100}`);
    if (left) streams.remove(left);
    await jest.advanceTimersByTimeAsync(100);
  }
  for (const id of lastMs.keys()) note(id);
  sweeper.stop();
  jest.useRealTimers();
  expect(longestMs).toBeLessThan(80_000);
});
