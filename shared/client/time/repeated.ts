import { failureOf } from '../errors/failure.ts';
import { pauseMs } from './backoff.ts';
import { type Clock, pause } from './clock.ts';

const BASE_MS = 1_000;
const CAP_MS = 10_000;

export interface RepeatedParts {
  clock: Clock;
  /** Nothing is repeated after its abort. */
  life: () => AbortSignal;
  /** Does not throw. */
  onProblem: (error: unknown) => void;
}

/**
 * Makes the work that follows a change, such as reading a list again. Returns the function to call after each change. Changes
 * that come together, or while the work runs, lead to one more run. Work that fails for a moment is repeated, later with each
 * failure in a row, because no other change may come for hours. A change ends the pause, unless the service asked for it.
 */
export function makeRepeated({ clock, life, onProblem }: RepeatedParts, work: () => Promise<void>): () => void {
  let isRunning = false;
  let isDue = false;
  let failures = 0;
  let endPause = (): void => {};

  async function run(): Promise<void> {
    isRunning = true;
    while (isDue) {
      isDue = false;
      try {
        await work();
        failures = 0;
      } catch (error) {
        onProblem(error);
        const { action, retryAfterMs } = failureOf(error);
        if (action !== 'retry') continue;
        const ms = pauseMs(failures, retryAfterMs, BASE_MS, CAP_MS);
        failures += 1;
        const keepEnd = (end: () => void) => {
          if (retryAfterMs === null) endPause = end;
        };
        await pause(ms, life(), clock, keepEnd).catch(() => {});
        isDue = !life().aborted;
      }
    }
    isRunning = false;
  }

  return () => {
    isDue = true;
    endPause();
    if (!isRunning) void run();
  };
}
