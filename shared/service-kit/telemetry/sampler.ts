const WINDOW_MS = 1_000;

/**
 * Lets the first `most` of each second through, and tells each of them how many were left out before it; null for those
 * that are.
 */
export function makeSampler(most: number, now: () => number = () => performance.now()): () => number | null {
  let [windowAtMs, taken, leftOut] = [Number.NEGATIVE_INFINITY, 0, 0];
  return () => {
    if (now() - windowAtMs >= WINDOW_MS) [windowAtMs, taken] = [now(), 0];
    if (taken >= most) {
      leftOut += 1;
      return null;
    }
    taken += 1;
    const told = leftOut;
    leftOut = 0;
    return told;
  };
}
