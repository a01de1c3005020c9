import { type Bytes, concat, u32, utf8 } from './bytes.ts';

/** A part of signed data. A text stands for its UTF-8. */
export type Part = string | Uint8Array;

/**
 * Encodes data that is signed or authenticated: each part follows its length, so that no two different lists have the same
 * bytes. The first part is the label of the kind.
 */
export function parts(list: readonly Part[]): Bytes {
  const all = list.map((part) => (typeof part === 'string' ? utf8(part) : part));
  return concat(...all.flatMap((part) => [u32(part.length), part]));
}
