import type { Stall } from '../chaos/history.ts';
import { watchStalls } from '../chaos/stalls.ts';

const ATTEMPTS = 3;

/**
 * Expects that a promised result takes less than `withinMs`. A longer attempt breaks the promise, unless this process
 * stood still meanwhile. In that case the machine may be the cause, and the attempt is repeated. One attempt must
 * succeed. `attempt` resolves to the ms that it took, and leaves nothing behind.
 */
export async function expectPromised(withinMs: number, attempt: () => Promise<number>): Promise<void> {
  const took: number[] = [];
  for (let i = 0; i < ATTEMPTS; i++) {
    const stalls: Stall[] = [];
    const stop = watchStalls({ stalls, now: () => performance.now() });
    const tookMs = await attempt().finally(stop);
    if (tookMs < withinMs) return;
    const standstillMs = Math.max(0, ...stalls.map(({ from, to }) => to - from));
    if (standstillMs === 0) throw new Error(`Took ${Math.round(tookMs)} ms, more than the ${withinMs} promised`);
    took.push(tookMs);
  }
  const all = took.map((ms) => `${Math.round(ms)} ms`).join(', ');
  throw new Error(`Took ${all}, more than the ${withinMs} ms promised, on a machine that stood still each time`);
}
