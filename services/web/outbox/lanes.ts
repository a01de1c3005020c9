import { type Held, inLock } from '../locks.ts';
import { pauseMs } from './verdict.ts';

interface Lane {
  isRunning: boolean;
  /** True: something has changed since the work began, so it runs once more. */
  isAsked: boolean;
  timer: ReturnType<typeof setTimeout> | undefined;
  /** How often its work has thrown in a row. */
  failures: number;
}

/** Tells whether the database is closed, because this browser was signed out or another version of the app opened it. */
const isClosed = (error: unknown): boolean => error instanceof DOMException && error.name === 'InvalidStateError';

/**
 * Makes one lane for each receiver. `work` sends the items of a lane, and returns how long to wait before the next try, or
 * null when nothing is left to try. Work that throws is retried, unless the database is closed. Only one tab works at a lane
 * at a time, and lanes do not wait for each other. A tab that was frozen while it worked may have lost the lane: `work` asks
 * `held` before it sends. If tabs have no locks, the keys of the items ensure that each is sent once.
 */
export function makeLanes(prefix: string, work: (lane: string, held: Held) => Promise<number | null>) {
  const lanes = new Map<string, Lane>();

  function laneOf(name: string): Lane {
    const known = lanes.get(name) ?? { isRunning: false, isAsked: false, timer: undefined, failures: 0 };
    lanes.set(name, known);
    return known;
  }

  async function run(name: string): Promise<void> {
    const lane = laneOf(name);
    clearTimeout(lane.timer);
    lane.isAsked = true;
    if (lane.isRunning) return;
    lane.isRunning = true;
    let waitMs: number | null = null;
    try {
      while (lane.isAsked) {
        lane.isAsked = false;
        waitMs = await inLock(`${prefix}-${name}`, (held) => work(name, held));
      }
      lane.failures = 0;
    } catch (error) {
      // The disk is full, or the browser has aborted a transaction. The waiting items are still there.
      if (!isClosed(error)) waitMs = pauseMs(lane.failures++);
    } finally {
      lane.isRunning = false;
    }
    if (waitMs !== null) lane.timer = setTimeout(() => void run(name), waitMs);
  }

  return { run };
}
