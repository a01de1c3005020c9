import { type Fault, lostUntil } from '../history.ts';

/** Milliseconds of a position: two events of one log never share them. */
export const msOf = (id: string): number => Number(id.slice(0, id.indexOf('-')));

/** Order in a log: by milliseconds alone; null when the two can not both belong to one log. */
export function compareIds(a: string, b: string): number | null {
  if (a === b) return 0;
  return msOf(a) === msOf(b) ? null : msOf(a) - msOf(b);
}

/**
 * A position may be seen this long after it was issued: through a replica that stood still for 13 s, and when it was for
 * others by a ping, 2 s later.
 */
export const LATE_MS = 15_000;

const isBetween = (fault: Fault, from: number, to: number): boolean =>
  fault.startedAt <= to && lostUntil(fault) >= from;

/** Tells whether the store may have forgotten something that was sent or done from `from` to `to`. */
export const hasLoss = (faults: Fault[], from: number, to: number): boolean =>
  faults.some((fault) => fault.loss !== null && isBetween(fault, from, to));

/**
 * Between two moments the store lost writes or had its clock set: what was written at the one and what at the other need
 * not belong to one log.
 */
export const hasBreak = (faults: Fault[], from: number, to: number): boolean =>
  faults.some((fault) => (fault.loss !== null || fault.movedClock) && isBetween(fault, from, to));
