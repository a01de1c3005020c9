interface ConcurrencyLimitParts {
  /** Questions of one address that are under way. */
  atOnce: number;
  /** Questions of one address that wait behind those. */
  mostWaiting: number;
  /** How long one waits. */
  waitMs: number;
}

/** What of one address is under way, and what waits in the order in which it came. */
interface Line {
  underWay: number;
  readonly waiting: Set<() => void>;
}

/** Lets so much of each client address be under way at a time; more waits. Addresses do not wait for each other. */
export function makeConcurrencyLimit({ atOnce, mostWaiting, waitMs }: ConcurrencyLimitParts) {
  const lines = new Map<string, Line>();

  const leave = (key: string, line: Line): void => {
    const [next] = line.waiting;
    // Whoever waited longest takes over the place as it is.
    if (next !== undefined) return next();
    line.underWay -= 1;
    if (line.underWay === 0) lines.delete(key);
  };

  /** To be called once, when the work is done. */
  const leaver = (key: string, line: Line) => () => leave(key, line);

  return {
    /** Resolves to what gives the place back; null: too many wait, or it took too long. */
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
