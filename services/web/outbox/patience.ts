import type { Queue } from './queue.ts';
import { pauseMs } from './verdict.ts';

/** Decides how long an item waits for its next try: longer with each failure. */
export function makePatience(queue: Pick<Queue, 'tell'>) {
  const failures = new Map<string, number>();
  /** When the lines may go on that the service has found too fast, by `performance.now()`. */
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
     * Returns how long a line still waits because it was too fast; null where it does not. Each item that is written
     * meanwhile would be another request that is refused.
     */
    limitedMs(line: string): number | null {
      const leftMs = (limitedUntil.get(line) ?? 0) - performance.now();
      return leftMs > 0 ? leftMs : null;
    },
    worked: (line: string): void => void failures.delete(line),
  };
}
