import type { Queue } from './queue.ts';
import { pauseMs } from './verdict.ts';

/** Decides how long an item waits for its next try: longer with each failure. */
export function makePatience(queue: Pick<Queue, 'tell'>) {
  const failures = new Map<string, number>();
  return {
    /** Notes why these items wait, and returns the time until the next try of this line. */
    async wait(line: string, ids: readonly string[], reason: string, retryAfterMs: number | null = null) {
      await queue.tell(ids, reason);
      const before = failures.get(line) ?? 0;
      failures.set(line, before + 1);
      return pauseMs(before, retryAfterMs);
    },
    worked: (line: string): void => void failures.delete(line),
  };
}
