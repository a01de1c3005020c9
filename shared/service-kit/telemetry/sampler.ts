const WINDOW_MS = 1_000;

/**
 * Makes a sampler that lets the first `most` calls of each second through. It returns how many calls were left out before
 * this one, or null for a call that is left out.
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
