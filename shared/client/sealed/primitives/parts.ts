import { type Bytes, utf8, viewOf } from './bytes.ts';

/** A part of signed data. A text means its UTF-8. */
export type Part = string | Uint8Array;

/**
 * Encodes data that is signed or authenticated: each part follows its length, so that no two different lists have the same
 * bytes. The first part is the label of the kind.
 */
export function parts(list: readonly Part[]): Bytes {
  const all = list.map((part) => (typeof part === 'string' ? utf8(part) : part));
  const bytes = new Uint8Array(all.reduce((sum, { length }) => sum + 4 + length, 0));
  const view = viewOf(bytes);
  let at = 0;
  for (const part of all) {
    view.setUint32(at, part.length);
    bytes.set(part, at + 4);
    at += 4 + part.length;
  }
  return bytes;
}
