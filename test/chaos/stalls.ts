import type { Stall } from './history.ts';

/** Shorter stalls are within the margins of the checker. */
export const SHORTEST_STALL_MS = 300;

const CHECK_EVERY_MS = 100;

interface StallsParts {
  /** The list that takes the stalls. */
  stalls: Stall[];
  now: () => number;
}

/** Writes down when this process stood still, until the function that it returns is called. */
export function watchStalls({ stalls, now }: StallsParts): () => void {
  let lastAt = now();
  const looking = setInterval(() => {
    const at = now();
    if (at - lastAt > SHORTEST_STALL_MS) stalls.push({ from: lastAt, to: at });
    lastAt = at;
  }, CHECK_EVERY_MS);
  return () => clearInterval(looking);
}
