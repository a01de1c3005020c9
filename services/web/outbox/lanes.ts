import { inLock } from '../locks.ts';
import { pauseMs } from './verdict.ts';

interface Lane {
  isRunning: boolean;
  /** Something has changed since it began: it looks once more. */
  isAsked: boolean;
  timer: ReturnType<typeof setTimeout> | undefined;
  /** How often in a row its work has thrown. */
  failures: number;
}

/** This browser was signed out, or another version of the app opened the database: nothing can be read here any more. */
const isClosed = (error: unknown): boolean => error instanceof DOMException && error.name === 'InvalidStateError';

/**
 * One line for each receiver. `work` sends what is in it, and gives how long to wait before the next try, or null when there is
 * nothing left to try. Work that throws is tried again, unless the database is closed. Only one tab works at a line at a time, and lines do not wait for each other; where tabs have no locks,
 * the keys of what is sent see to "once".
 */
export function makeLanes(prefix: string, work: (lane: string) => Promise<number | null>) {
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
        waitMs = await inLock(`${prefix}-${name}`, () => work(name));
      }
      lane.failures = 0;
    } catch (error) {
      // A full disk, or a transaction that the browser has aborted: what waits is still there.
      if (!isClosed(error)) waitMs = pauseMs(lane.failures++);
    } finally {
      lane.isRunning = false;
    }
    if (waitMs !== null) lane.timer = setTimeout(() => void run(name), waitMs);
  }

  return { run };
}
