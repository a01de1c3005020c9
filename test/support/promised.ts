import type { Stall } from '../chaos/history.ts';
import { watchStalls } from '../chaos/stalls.ts';

const ATTEMPTS = 3;

/**
 * Expects of something that somebody was promised that it takes less than `withinMs`. What took longer breaks the promise,
 * unless this process stood still meanwhile: then the machine may have been what took so long, and it is tried again. One
 * attempt has to count. `attempt` resolves to the ms that it took, and leaves nothing behind.
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
