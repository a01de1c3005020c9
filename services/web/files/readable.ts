/** The limit of a text that is too long for a message, and short enough to be shown in the thread. */
const MOST_BYTES = 256 * 1024;

export const isReadable = ({ type, size }: { type: string | null; size: number }): boolean =>
  (type ?? '').startsWith('text/plain') && size > 0 && size <= MOST_BYTES;
