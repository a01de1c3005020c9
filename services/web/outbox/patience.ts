import type { Queue } from './queue.ts';
import { pauseMs } from './verdict.ts';

/** Decides how long an item waits for its next try: longer with each failure. */
export function makePatience(queue: Pick<Queue, 'tell'>) {
  const failures = new Map<string, number>();
  /** The time by `performance.now()` until which the service limits the rate of each line. */
  const limitedUntil = new Map<string, number>();
  return {
    /** Notes why these items wait, and returns the time until the next try of this line. */
    async wait(line: string, ids: readonly string[], reason: string, retryAfterMs: number | null = null) {
      await queue.tell(ids, reason);
      const before = failures.get(line) ?? 0;
      failures.set(line, before + 1);
      const ms = pauseMs(before, retryAfterMs);
      if (reason === 'rate_limited') limitedUntil.set(line, performance.now() + ms);
      return ms;
    },
    /**
     * Returns how long the service still limits the rate of a line; null when it does not. Without this pause each item that
     * is written meanwhile would make another request, which is refused.
     */
    limitedMs(line: string): number | null {
      const leftMs = (limitedUntil.get(line) ?? 0) - performance.now();
      return leftMs > 0 ? leftMs : null;
    },
    worked: (line: string): void => void failures.delete(line),
  };
}
