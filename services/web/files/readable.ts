/** A text that was too long for a message, and short enough to be read where it stands. */
const MOST_BYTES = 256 * 1024;

export const isReadable = ({ type, size }: { type: string | null; size: number }): boolean =>
  (type ?? '').startsWith('text/plain') && size > 0 && size <= MOST_BYTES;
