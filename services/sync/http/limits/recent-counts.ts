interface CountsParts {
  /** Counts kept of one window. Two windows are kept. */
  most: number;
  windowMs: number;
}

/**
 * Makes a map with one number for each key, in two generations. The older generation is dropped when the window is over,
 * because all its numbers are zero by then, or when the younger one is full. In the second case counts are lost: a flood
 * of callers makes limits wider, never narrower.
 */
export function makeCounts({ most, windowMs }: CountsParts) {
  let young = new Map<string, number>();
  let old = new Map<string, number>();
  let turnedAtMs = Number.NEGATIVE_INFINITY;
  return {
    get: (key: string): number => young.get(key) ?? old.get(key) ?? 0,
    set(key: string, value: number, nowMs: number): void {
      if (nowMs - turnedAtMs >= windowMs || young.size >= most) {
        old = young;
        young = new Map();
        turnedAtMs = nowMs;
      }
      young.set(key, value);
    },
    get size(): number {
      return young.size + old.size;
    },
  };
}
