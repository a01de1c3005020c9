/** Numbers that a seed determines. */
export interface Random {
  /** From 0 up to 1. */
  next(): number;
  between(from: number, to: number): number;
  pick<T>(from: readonly T[]): T;
  shuffled<T>(from: readonly T[]): T[];
  /** Forks off numbers of its own: draws there do not depend on how many were drawn here. */
  fork(name: string): Random;
}

/** FNV-1a of 32 bits. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return hash >>> 0;
}

/** mulberry32: small, fast, and good enough to choose with. */
export function makeRandom(seed: string): Random {
  let state = hashOf(seed);
  const random: Random = {
    next() {
      state = (state + 0x6d2b79f5) | 0;
      let t = Math.imul(state ^ (state >>> 15), 1 | state);
      t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
      return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
    },
    between: (from, to) => from + random.next() * (to - from),
    pick(from) {
      const index = Math.floor(random.next() * from.length);
      return from[index] as (typeof from)[number];
    },
    shuffled(from) {
      const left = [...from];
      for (let i = left.length - 1; i > 0; i--) {
        const j = Math.floor(random.next() * (i + 1));
        [left[i], left[j]] = [left[j] as (typeof left)[number], left[i] as (typeof left)[number]];
      }
      return left;
    },
    fork: (name) => makeRandom(`${seed}/${name}`),
  };
  return random;
}
