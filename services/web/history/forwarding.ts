/** The members of an object that forwards its calls, by their names. */
export type Members = Record<string, unknown>;

/** One call, which is made on the object that is in use. */
export type Work = (members: Members) => unknown;

/** The members of a history and an outbox that change nothing. */
const READS: ReadonlySet<string> = new Set([
  ...['all', 'byRef', 'get', 'has', 'item', 'messages', 'newest', 'of', 'pageStart', 'search'],
  ...['since', 'threads', 'unfinished', 'unsent', 'withBytes'],
]);

/**
 * Returns an object with the members of `first`, including nested ones. `run` runs each call on the object that is in use
 * then, and hears whether the call only reads.
 */
export function forwarding(first: Members, run: (work: Work, isRead: boolean) => unknown): Members {
  const entries = Object.entries(first).map(([name, member]) => {
    if (typeof member !== 'function') {
      const inner = (members: Members) => members[name] as Members;
      return [name, forwarding(inner(first), (work, isRead) => run((members) => work(inner(members)), isRead))];
    }
    const call = (given: unknown[]) => (members: Members) =>
      (members[name] as (...all: unknown[]) => unknown)(...given);
    return [name, (...given: unknown[]) => run(call(given), READS.has(name))];
  });
  return Object.fromEntries(entries) as Members;
}
