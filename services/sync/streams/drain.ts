import { spreadRetryMs } from './heartbeat.ts';
import type { Stream } from './stream.ts';

/** How long the last detaches may take before the sockets are cut. */
const SETTLE_MS = 5_000;

const delay = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/**
 * Ends all streams in random order, evenly over `spreadMs`, each with a `retry` of its own. Resolves when they are gone
 * and `isSettled` says that the store knows of it.
 */
export async function endEvenly(
  streams: ReadonlyMap<string, Stream>,
  spreadMs: number,
  isSettled: () => boolean,
): Promise<void> {
  const order = [...streams.values()].sort(() => Math.random() - 0.5);
  const started = performance.now();
  for (const [index, stream] of order.entries()) {
    const waitMs = started + (spreadMs * index) / order.length - performance.now();
    if (waitMs > 5) await delay(waitMs);
    stream.end('draining', spreadRetryMs(500, 3_000));
  }
  const deadline = performance.now() + SETTLE_MS;
  while (!(isSettled() && streams.size === 0) && performance.now() < deadline) await delay(20);
  for (const stream of streams.values()) stream.destroy();
}
