import { type Fault, lostUntil } from '../history.ts';

/** The milliseconds of a position. Two events of one log never share them. */
export const msOf = (id: string): number => Number(id.slice(0, id.indexOf('-')));

/** Compares positions of a log by milliseconds alone; null when the two cannot both belong to one log. */
export function compareIds(a: string, b: string): number | null {
  if (a === b) return 0;
  return msOf(a) === msOf(b) ? null : msOf(a) - msOf(b);
}

/**
 * A position may be seen this long after it was issued: through a replica that stood still for 13 s, and 2 s later if
 * it was for others and only a ping tells it.
 */
export const LATE_MS = 15_000;

const isBetween = (fault: Fault, from: number, to: number): boolean =>
  fault.startedAt <= to && lostUntil(fault) >= from;

/** Tells whether the store may have forgotten something that was sent or done from `from` to `to`. */
export const hasLoss = (faults: Fault[], from: number, to: number): boolean =>
  faults.some((fault) => fault.loss !== null && isBetween(fault, from, to));

/**
 * Tells whether the store lost writes or had its clock set between two moments. If so, what was written at one and at
 * the other need not belong to one log.
 */
export const hasBreak = (faults: Fault[], from: number, to: number): boolean =>
  faults.some((fault) => (fault.loss !== null || fault.movedClock) && isBetween(fault, from, to));
