/** Milliseconds of a position: two events of one log never share them. */
export const msOf = (id: string): number => Number(id.slice(0, id.indexOf('-')));

/** Order in a log: by milliseconds alone; null when the two can not both belong to one log. */
export function compareIds(a: string, b: string): number | null {
  if (a === b) return 0;
  return msOf(a) === msOf(b) ? null : msOf(a) - msOf(b);
}
