import type { Item } from '../../history/database.ts';

/** Items of one side within this time are one burst with one time. */
const BURST_MS = 3 * 60_000;

const noteOf = (item: Item): string => `${item.state} ${item.error ?? ''}`;

const lockOf = (item: Item): string => (item.kind === 'message' ? (item.lock ?? '') : '');

/**
 * Tells whether the time is shown under this item: the next one is of the other side, a later time, another state, or not
 * encrypted the same way.
 */
export function endsBurst(item: Item, next: Item | undefined): boolean {
  if (next === undefined || next.isMine !== item.isMine || next.at - item.at > BURST_MS) return true;
  if (new Date(next.at).toDateString() !== new Date(item.at).toDateString()) return true;
  if (lockOf(next) !== lockOf(item)) return true;
  if (!item.isMine || item.kind !== 'message') return false;
  return next.kind !== 'message' || noteOf(next) !== noteOf(item);
}
