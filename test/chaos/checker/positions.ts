import type { Fault } from '../history.ts';

/** Milliseconds of a position: two events of one log never share them. */
export const msOf = (id: string): number => Number(id.slice(0, id.indexOf('-')));

/** Order in a log: by milliseconds alone; null when the two can not both belong to one log. */
export function compareIds(a: string, b: string): number | null {
  if (a === b) return 0;
  return msOf(a) === msOf(b) ? null : msOf(a) - msOf(b);
}

/** A position may reach a client this long after it was issued: through a paused replica, a slow socket. */
export const LATE_MS = 10_000;

/**
 * Between two moments the store lost writes or had its clock set: what was seen at the one and what at the other need
 * not belong to one log.
 */
export const hasBreak = (faults: Fault[], from: number, to: number): boolean =>
  faults.some(
    ({ loss, movedClock, startedAt, endedAt }) => (loss !== null || movedClock) && startedAt <= to && endedAt >= from,
  );
