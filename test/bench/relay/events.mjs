import { median, spread } from '../rounds/figures.mjs';
import { makePinning } from '../machine/pinning.mjs';
import { startLoad } from '../machine/processes.mjs';

/** The messages a second, and for how many seconds, each from one replica to the other. */
const PACE = { perSecond: 100, seconds: 10 };

/**
 * Measures what relays cost events: the latency of messages across the two replicas, alone and beside relays that never
 * stop, in turns. `relay` runs a batch of relays to its end.
 */
export async function measureEvents({ ports: [one, two], relay, rounds }) {
  const load = await startLoad({ pinning: makePinning('none'), script: '../relay/pairs-load.mjs' });
  const urlOf = (port) => `http://127.0.0.1:${port}`;
  const measure = async () => {
    await load.ask('open', { count: 20, sendOn: urlOf(one), listenOn: urlOf(two), bytes: 100, ackEvery: 50 });
    const { latencies } = await load.ask('paced', PACE);
    await load.ask('close');
    return spread(latencies);
  };
  const beside = async () => {
    let isOver = false;
    const relays = (async () => {
      while (!isOver) await relay();
    })();
    const found = await measure();
    isOver = true;
    await relays;
    return found;
  };
  await measure();
  const found = { alone: [], beside: [] };
  for (let round = 0; round < rounds; round += 1) {
    found.alone.push(await measure());
    found.beside.push(await beside());
  }
  await load.stop();
  const of = (kind, figure) => median(found[kind].map((round) => round[figure]));
  const lines = ['alone', 'beside'].map(
    (kind) =>
      `  ${kind.padEnd(6)} p50 ${of(kind, 'p50').toFixed(2)} ms  p95 ${of(kind, 'p95').toFixed(2)} ms  p99 ${of(kind, 'p99').toFixed(2)} ms`,
  );
  const ratio = (figure) => median(found.beside.map((round, i) => round[figure] / found.alone[i][figure])).toFixed(2);
  return `${lines.join('\n')}\n  ratio  p50 ${ratio('p50')}  p99 ${ratio('p99')}\n`;
}
