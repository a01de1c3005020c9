import { makeDevice, openPair } from './pairs.mjs';

/*
 * The process that holds the clients. Sender and receiver of a pair are both in here, so that one clock measures the
 * way of a message. Does the tasks of its parent, one at a time.
 */

/** Streams that are being opened at the same moment. */
const OPENING = 100;

let pairs = [];
const idle = [];

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** Runs `act(i)` for 0 to count - 1, at most `width` of them at once. */
async function overlapped(count, width, act) {
  let next = 0;
  const worker = async () => {
    while (next < count) await act(next++);
  };
  await Promise.all(Array.from({ length: Math.min(width, count) }, worker));
}

const pairOf = (number) => pairs[number % pairs.length];
const finish = () => Promise.all(pairs.map((pair) => pair.finish()));

/** Wraps a run with what all of them tell: seconds, and this process's own processor time. */
async function timed(run) {
  const startedMs = performance.now();
  const before = process.cpuUsage();
  const found = await run();
  const seconds = (performance.now() - startedMs) / 1_000;
  await finish();
  const { user, system } = process.cpuUsage(before);
  return { ...found, seconds, cpuMicros: user + system };
}

const TASKS = {
  /** Opens `count` pairs that send on one server and listen on the other. */
  async open({ count, ...pair }) {
    const opened = [];
    await overlapped(count, OPENING, async () => opened.push(await openPair(pair)));
    pairs = opened;
  },

  async close() {
    await Promise.all(pairs.map((pair) => pair.close()));
    pairs = [];
  },

  /** One message in flight: the next is sent when the last was accepted and delivered. */
  oneByOne: ({ messages }) =>
    timed(async () => {
      const latencies = [];
      for (let i = 0; i < messages; i += 1) latencies.push(await pairOf(i).exchange());
      return { latencies };
    }),

  /** Evenly spaced, whatever the answers do: a slow server does not slow the questions down. */
  paced: ({ perSecond, seconds }) =>
    timed(async () => {
      const exchanges = [];
      const lateness = [];
      const startMs = performance.now();
      for (let i = 0; i < perSecond * seconds; i += 1) {
        const dueMs = startMs + (i * 1_000) / perSecond;
        while (performance.now() < dueMs) await pause(dueMs - performance.now());
        lateness.push(performance.now() - dueMs);
        exchanges.push(pairOf(i).exchange());
      }
      return { latencies: await Promise.all(exchanges), lateness };
    }),

  /** `inFlight` messages at any moment. */
  saturated: ({ inFlight, seconds }) =>
    timed(async () => {
      const latencies = [];
      const untilMs = performance.now() + seconds * 1_000;
      await overlapped(inFlight, inFlight, async (i) => {
        while (performance.now() < untilMs) latencies.push(await pairOf(i).exchange());
      });
      return { latencies };
    }),

  /** Opens streams that nothing is ever sent to; `perAccount` devices share an account. */
  async openIdle({ url, streams, perAccount, account }) {
    await overlapped(streams, OPENING, async (i) => {
      const user = `${account}-${Math.floor(i / perAccount)}`;
      idle.push(await makeDevice({ url, user, name: `Device ${i % perAccount}` }).listen(() => {}));
    });
  },
};

process.on('message', ({ task, given }) => {
  TASKS[task](given).then(
    (result) => process.send({ result: result ?? null }),
    (error) => process.send({ failed: error.stack }),
  );
});
process.on('disconnect', () => process.exit());
process.on('SIGTERM', () => process.exit());
process.send({ started: true });
