import { type Bytes, concat, u32, utf8 } from './bytes.ts';

/** A text stands for its UTF-8. */
export type Part = string | Uint8Array;

/**
 * Whatever is signed or authenticated: each part with its length before it, so that no two different lists read alike. The
 * first part is the label of what it is.
 */
export function parts(list: readonly Part[]): Bytes {
  const all = list.map((part) => (typeof part === 'string' ? utf8(part) : part));
  return concat(...all.flatMap((part) => [u32(part.length), part]));
}
