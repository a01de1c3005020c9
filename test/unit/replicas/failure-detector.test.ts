import { FailureDetector } from '../../../services/sync/replicas/failure-detection/failure-detector.ts';

/** Makes a detector of the replica `me` that reads a table with `other` every 2 s. `other` beats while it is alive. */
function setUp() {
  const detector = new FailureDetector({
    ownId: () => 'me',
    channelOf: (id) => `bus:${id}`,
    isHeard: () => Promise.resolve(true),
  });
  let [counter, nowMs] = [1, 0];
  const read = ({ isAlive = false, afterMs = 2_000, tookMs = 0 } = {}) => {
    nowMs += afterMs;
    if (isAlive) counter += 1;
    const counters = new Map([
      ['me', String(nowMs)],
      ['other', String(counter)],
    ]);
    const table = { renewed: true, counters, reaping: new Map<string, string>(), revocations: '', atMs: 0 };
    detector.observe(table, nowMs - tookMs, nowMs);
    return detector.dead().map(({ id }) => id);
  };
  return { detector, read };
}

test('a replica is dead when its counter stood still for 6 s, and not while it beats', () => {
  const { read } = setUp();
  for (let i = 0; i < 10; i++) expect(read({ isAlive: true })).toEqual([]);
  expect([read(), read(), read()]).toEqual([[], [], ['other']]);
  expect(read({ isAlive: true })).toEqual([]);
});

test.each([
  ['failed', (scene: ReturnType<typeof setUp>) => scene.detector.restartWindow()],
  ['took longer than a second', ({ read }: ReturnType<typeof setUp>) => void read({ tookMs: 1_500 })],
  [
    'came late, because this process stood still',
    ({ read }: ReturnType<typeof setUp>) => void read({ afterMs: 9_000 }),
  ],
])('a reading that %s proves nothing: 6 s more have to pass', (_, interrupt) => {
  const scene = setUp();
  for (let i = 0; i < 3; i++) scene.read();
  interrupt(scene);
  expect([scene.read(), scene.read()]).toEqual([[], []]);
});
