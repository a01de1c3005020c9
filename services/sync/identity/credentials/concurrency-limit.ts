interface ConcurrencyLimitParts {
  /** The most tasks of one address that are under way. */
  atOnce: number;
  /** The most tasks of one address that wait behind those. */
  mostWaiting: number;
  /** How long a task waits. */
  waitMs: number;
}

/** The tasks of one address: how many are under way, and those that wait, in the order of arrival. */
interface Line {
  underWay: number;
  readonly waiting: Set<() => void>;
}

/** Limits how many tasks of each client address are under way at once. More wait. Addresses do not wait for each other. */
export function makeConcurrencyLimit({ atOnce, mostWaiting, waitMs }: ConcurrencyLimitParts) {
  const lines = new Map<string, Line>();

  const leave = (key: string, line: Line): void => {
    const [next] = line.waiting;
    // The task that waited longest takes over the place, so the count stays.
    if (next !== undefined) return next();
    line.underWay -= 1;
    if (line.underWay === 0) lines.delete(key);
  };

  /** Returns a function that gives the place back. It must be called once, when the work is done. */
  const leaver = (key: string, line: Line) => () => leave(key, line);

  return {
    /** Resolves to a function that gives the place back; to null if too many tasks wait, or this one waited too long. */
    enter(key: string): Promise<(() => void) | null> {
      const line = lines.get(key) ?? { underWay: 0, waiting: new Set() };
      if (line.underWay < atOnce) {
        lines.set(key, line);
        line.underWay += 1;
        return Promise.resolve(leaver(key, line));
      }
      if (line.waiting.size >= mostWaiting) return Promise.resolve(null);
      return new Promise((resolve) => {
        const begin = (): void => {
          clearTimeout(timer);
          line.waiting.delete(begin);
          resolve(leaver(key, line));
        };
        const timer = setTimeout(() => {
          line.waiting.delete(begin);
          resolve(null);
        }, waitMs);
        line.waiting.add(begin);
      });
    },
  };
}
