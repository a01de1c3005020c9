interface CountsParts {
  /** Kept of one window; two windows are kept. */
  most: number;
  windowMs: number;
}

/**
 * One number for each that is counted, in two generations: the older is dropped once nothing of it can be above zero any
 * more, or when the younger is full. Then counts are forgotten: a flood of callers makes limits wider, never narrower.
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
