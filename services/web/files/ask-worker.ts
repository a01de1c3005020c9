import { signal } from '@preact/signals';
import { BatonClientError } from '../../../shared/client/index.ts';
import { shared } from '../engine/shared-state.ts';
import { scriptUrl } from '../trusted-types.ts';
import type { FileAnswer, FileRequest } from './file-worker.ts';
import { workerAddress } from 'virtual:worker-address';

type Distributed<T> = T extends unknown ? Omit<T, 'turn'> : never;
type Asker = {
  resolve: (value: unknown) => void;
  reject: (error: Error) => void;
  onDone: (bytes: number) => void;
};

/** One worker for all files of this tab. If it cannot be loaded, the next file starts it again. */
let worker: Worker | null = null;
/** How often in a row it was not loaded. */
let failures = 0;
/** So often it may fail before its file counts as gone. During an update another replica may still have the file. */
const MOST_FAILURES = 3;

/** True: the worker cannot be loaded, although the service answers. The service no longer has the files of this version. */
export const isWorkerGone = signal(false);

let turn = 0;
const waiting = new Map<number, Asker>();

/** A page that is frozen keeps its files open until it moves again, or is closed. */
const heldError = (message: string): BatonClientError =>
  new BatonClientError('file_held', message, { action: 'retry' });

function startWorker(): Worker {
  const started = new Worker(scriptUrl(workerAddress), { type: 'module' });
  started.addEventListener('message', ({ data }: MessageEvent<FileAnswer>) => {
    failures = 0;
    isWorkerGone.value = false;
    const asker = waiting.get(data.turn);
    if ('done' in data) return asker?.onDone(data.done);
    waiting.delete(data.turn);
    if ('error' in data) asker?.reject(data.isHeld === true ? heldError(data.error) : new Error(data.error));
    else asker?.resolve(data.value);
  });
  started.addEventListener('error', () => {
    worker = null;
    started.terminate();
    failures += 1;
    isWorkerGone.value = failures >= MOST_FAILURES && shared.peek().connection === 'online';
    const code = isWorkerGone.value ? 'not_loaded' : 'network';
    const failure = new BatonClientError(code, 'The worker of the app cannot be loaded', { action: 'retry' });
    for (const { reject } of waiting.values()) reject(failure);
    waiting.clear();
  });
  return started;
}

/** Starts the worker before the first file needs it. A running worker needs nothing of the service, which may drop its file. */
export function readyWorker(): void {
  worker ??= startWorker();
}

/**
 * Asks the worker, and returns its answer; `onDone` gets the progress. @throws the worker's error, by its words, and
 * `network` or `not_loaded` if the worker could not be loaded now
 */
export function askWorker(
  request: Distributed<FileRequest>,
  moved: Transferable[] = [],
  onDone: (bytes: number) => void = () => {},
): Promise<unknown> {
  worker ??= startWorker();
  const to = worker;
  turn += 1;
  const own = turn;
  return new Promise((resolve, reject) => {
    waiting.set(own, { resolve, reject, onDone });
    to.postMessage({ ...request, turn: own }, moved);
  });
}

let files = 0;

/** Returns a number by which the worker knows a file. */
export function newFileNumber(): number {
  files += 1;
  return files;
}
