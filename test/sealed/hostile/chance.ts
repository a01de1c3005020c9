/** Choices that a seed makes, the same each time. */
export interface Chance {
  /** Returns an integer from 0 to one less than this. */
  below(count: number): number;
  /** Returns true in this share of calls. */
  is(share: number): boolean;
  pick<T>(list: readonly T[]): T;
}

/** Makes the choices of a seed (mulberry32). */
export function chanceOf(seed: number): Chance {
  let state = (seed + 1) * 0x9e3779b9;
  const next = (): number => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (count: number): number => Math.floor(next() * count);
  return { below, is: (share) => next() < share, pick: (list) => list[below(list.length)] as never };
}

/** Returns a text of base64url with one bit changed, or cut, or longer. */
export function spoilt(text: string, chance: Chance): string {
  const bytes = Buffer.from(text, 'base64url');
  const how = chance.pick(['bit', 'bit', 'bit', 'cut', 'longer']);
  if (how === 'cut') return bytes.subarray(0, chance.below(bytes.length)).toString('base64url');
  if (how === 'longer') return Buffer.concat([bytes, Buffer.alloc(1 + chance.below(40))]).toString('base64url');
  const at = chance.below(bytes.length);
  bytes[at] = (bytes[at] ?? 0) ^ (1 << chance.below(8));
  return bytes.toString('base64url');
}
