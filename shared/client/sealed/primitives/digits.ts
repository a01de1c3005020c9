import { viewOf } from './bytes.ts';

/** Returns a code that people compare or type: the first u32 of a secret, in `count` digits. */
export const digitsOf = (secret: Uint8Array, count: number): string =>
  String(viewOf(secret).getUint32(0) % 10 ** count).padStart(count, '0');
