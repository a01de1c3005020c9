import type { Hash } from '../api.ts';
import { abortedBy, failureOf } from '../errors/failure.ts';
import type { FileSource } from './files.ts';
import { sourceFailed } from './sources.ts';

/** Feeds a stream to a hash, and returns the number of its bytes. */
export async function feed(hash: Hash, stream: ReadableStream<Uint8Array>, signal: AbortSignal): Promise<number> {
  const reader = stream.getReader();
  let bytes = 0;
  try {
    for (;;) {
      signal.throwIfAborted();
      const { done, value } = await reader.read();
      if (done) return bytes;
      hash.update(value);
      bytes += value.length;
    }
  } finally {
    reader.cancel().catch(() => {});
  }
}

/** Returns the digest of a source, stated by it or made by reading it; null if it can be read only once. */
async function digestOf(source: FileSource, make: () => Hash, signal: AbortSignal): Promise<string | null> {
  if (source.sha256 !== undefined) return source.sha256;
  if (!source.replayable) return null;
  if (source.digest !== undefined) return source.digest(signal);
  const hash = make();
  await feed(hash, await source.open(0, signal), signal);
  return hash.hex();
}

/** Several at a time, because opening a small file takes longer than reading it. */
const AT_A_TIME = 4;

/** Makes the digests of all files of an offer. Throws `source_failed`. */
export async function digestsOf(
  files: readonly FileSource[],
  make: () => Hash,
  signal: AbortSignal,
): Promise<(string | null)[]> {
  const found: (string | null)[] = [];
  const rest = files.entries();
  async function digestRest(): Promise<void> {
    // Each worker takes the next file from the same iterator.
    for (const [index, file] of rest) {
      try {
        found[index] = await digestOf(file, make, signal);
      } catch (error) {
        if (signal.aborted) throw abortedBy(signal);
        throw sourceFailed(`${file.name} cannot be read: ${failureOf(error).message}`, error);
      }
    }
  }
  await Promise.all(Array.from({ length: AT_A_TIME }, digestRest));
  return found;
}
