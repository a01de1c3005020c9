import { openPair } from '../load/client-pairs.mjs';

/*
 * The process that holds the pairs of `npm run bench:relay -- --events`, with the client that people use. Both sender
 * and receiver of a pair are in this process, so that one clock measures the way of a message.
 */

let pairs = [];

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

const TASKS = {
  /** Opens `count` pairs that send on one server and listen on the other. */
  async open({ count, ...pair }) {
    pairs = await Promise.all(Array.from({ length: count }, () => openPair(pair)));
  },

  async close() {
    await Promise.all(pairs.map((pair) => pair.close()));
    pairs = [];
  },

  /** Messages are evenly spaced, whatever the answers do: a slow server does not slow the sending. */
  async paced({ perSecond, seconds }) {
    const exchanges = [];
    const startMs = performance.now();
    for (let i = 0; i < perSecond * seconds; i += 1) {
      const dueMs = startMs + (i * 1_000) / perSecond;
      while (performance.now() < dueMs) await pause(dueMs - performance.now());
      exchanges.push(pairs[i % pairs.length].exchange());
    }
    const latencies = await Promise.all(exchanges);
    await Promise.all(pairs.map((pair) => pair.finish()));
    return { latencies };
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
