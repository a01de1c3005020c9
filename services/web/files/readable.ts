/** The limit of a text that is too long for a message, and short enough to be shown in the thread. */
const MOST_BYTES = 256 * 1024;

export const isReadable = ({ type, size }: { type: string | null; size: number }): boolean =>
  (type ?? '').startsWith('text/plain') && size > 0 && size <= MOST_BYTES;

/** Reads a text; null if its bytes are not UTF-8, because the decoded text would be shown and copied wrong. */
export async function readText(blob: Blob): Promise<string | null> {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(await blob.arrayBuffer());
  } catch {
    return null;
  }
}
