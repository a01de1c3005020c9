import { askWorker, newFileNumber } from './ask-worker.ts';

/** The SHA-256 of a file, made by the worker: the page goes on answering. Rejects when it was stopped. */
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
