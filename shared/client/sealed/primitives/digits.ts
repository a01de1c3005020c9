import { viewOf } from './bytes.ts';

/** A code that people compare or type: the first u32 of a secret, in so many digits. */
export const digitsOf = (secret: Uint8Array, count: number): string =>
  String(viewOf(secret).getUint32(0) % 10 ** count).padStart(count, '0');
