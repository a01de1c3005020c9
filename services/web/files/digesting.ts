import { BatonClientError, type FileSource } from '../../../shared/client/index.ts';
import { isPassing } from '../engine/repeated.ts';
import { askWorker, newFileNumber } from './ask-worker.ts';

/** How many files are read at a time before an offer. */
const AT_A_TIME = 4;

/** Returns the SHA-256 of a file. The worker makes it, so that the page keeps responding. Rejects when it was stopped. */
export async function digestFile(
  blob: Blob,
  signal: AbortSignal,
  onDone: (bytes: number) => void = () => {},
): Promise<string> {
  const file = newFileNumber();
  const stop = () => void askWorker({ act: 'close', file }).catch(() => {});
  signal.addEventListener('abort', stop, { once: true });
  try {
    return (await askWorker({ act: 'digest-blob', file, blob }, [], onDone)) as string;
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

/**
 * Returns the sources with their digests, so that the offer can follow at once. @throws `source_failed`, `aborted` when it
 * was stopped, and an error that passes as it is
 */
export async function digested(sources: readonly FileSource[], signal: AbortSignal): Promise<FileSource[]> {
  const found = [...sources];
  const rest = sources.entries();
  async function digestRest(): Promise<void> {
    for (const [i, source] of rest) {
      signal.throwIfAborted();
      const sha256 = await source.digest?.(signal);
      if (sha256 !== undefined) found[i] = { ...source, sha256 };
    }
  }
  try {
    await Promise.all(Array.from({ length: AT_A_TIME }, digestRest));
    return found;
  } catch (cause) {
    if (!signal.aborted && isPassing(cause)) throw cause;
    const code = signal.aborted ? 'aborted' : 'source_failed';
    throw new BatonClientError(code, 'The files cannot be read', { action: 'tell-user', cause });
  }
}
