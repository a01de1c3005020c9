import { failureOf } from '../errors/failure.ts';
import { backoffMs } from './backoff.ts';
import { type Clock, pause } from './clock.ts';

const BASE_MS = 1_000;
const CAP_MS = 10_000;

export interface RepeatedParts {
  clock: Clock;
  /** Nothing is repeated after its abort. */
  life: () => AbortSignal;
  onProblem: (error: unknown) => void;
}

/**
 * Makes the work that follows a change, such as reading a list again. Returns the function to call after each change. Changes
 * that come together, or while the work runs, lead to one more run. Work that fails for a moment is repeated, later with each
 * failure, because no other change may come for hours.
 */
export function makeRepeated({ clock, life, onProblem }: RepeatedParts, work: () => Promise<void>): () => void {
  let isRunning = false;
  let isDue = false;

  async function run(): Promise<void> {
    isRunning = true;
    for (let failures = 0; isDue; failures += 1) {
      isDue = false;
      try {
        await work();
      } catch (error) {
        onProblem(error);
        const { action, retryAfterMs } = failureOf(error);
        const ms = Math.max(backoffMs(failures, BASE_MS, CAP_MS), retryAfterMs ?? 0);
        if (action === 'retry') await pause(ms, life(), clock).then(again, () => {});
      }
    }
    isRunning = false;
  }

  function again(): void {
    isDue = true;
    if (!isRunning) void run();
  }
  return again;
}
