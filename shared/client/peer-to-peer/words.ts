/*
 * The words on a data channel. The receiver leads:
 *
 *   receiver                                    sender
 *     {say:'want', file, at}        ------->
 *                                   <-------    {say:'file', file, at}, in the order in which they are wanted
 *                                   <-------    bytes, up to the end of the file
 *     {say:'took', file, at, bytes} ------->    how far the file is, and all bytes that were taken over this channel
 *     {say:'stored', file}          ------->    the file is whole, and safe
 *
 * Words are text, bytes are binary. Between `file` and the end of that file only bytes come.
 */

/** How far a sender may be ahead of its receiver's `took`: the most that the receiver holds in memory. */
export const WINDOW_BYTES = 8 * 1024 * 1024;
/** No message of an honest side is longer. */
export const MOST_MESSAGE_BYTES = 256 * 1024;
/** A receiver sends `took` after it has taken this many further bytes. */
export const TELL_BYTES = 512 * 1024;

const MOST_CHARS = 256;

interface Word {
  say: 'want' | 'file' | 'took' | 'stored';
  file: number;
  at: number;
  bytes?: number;
}

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0;

/** Parses a word of the other side; null when it is none. */
export function parseWord(data: unknown): Word | null {
  if (typeof data !== 'string' || data.length > MOST_CHARS) return null;
  try {
    const { say, file, at = 0, bytes = 0 } = JSON.parse(data) as Record<string, unknown>;
    const isKnown = say === 'want' || say === 'file' || say === 'took' || say === 'stored';
    return isKnown && isCount(file) && isCount(at) && isCount(bytes) ? { say, file, at, bytes } : null;
  } catch {
    return null;
  }
}
