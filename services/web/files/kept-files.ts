import type { FileSink, TransferFile } from '../../../shared/client/index.ts';
import { scriptUrl } from '../trusted-types.ts';
import type { FileAnswer, FileRequest } from './opfs-worker.ts';
import { workerAddress } from 'virtual:worker-address';

/** Bytes that are written at once: what comes from the network comes in much smaller parts. */
const BLOCK_BYTES = 1024 * 1024;

type Distributed<T> = T extends unknown ? Omit<T, 'turn'> : never;

/** One worker for all files of this tab, started with the first. */
function makeWorker() {
  let worker: Worker | null = null;
  let turn = 0;
  const waiting = new Map<number, { resolve: (value: unknown) => void; reject: (error: Error) => void }>();

  function started(): Worker {
    if (worker !== null) return worker;
    worker = new Worker(scriptUrl(workerAddress), { type: 'module' });
    worker.addEventListener('message', ({ data }: MessageEvent<FileAnswer>) => {
      const asker = waiting.get(data.turn);
      waiting.delete(data.turn);
      if ('error' in data) asker?.reject(new Error(data.error));
      else asker?.resolve(data.value);
    });
    return worker;
  }

  return (request: Distributed<FileRequest>, moved: Transferable[] = []): Promise<unknown> => {
    turn += 1;
    const own = turn;
    return new Promise((resolve, reject) => {
      waiting.set(own, { resolve, reject });
      started().postMessage({ ...request, turn: own }, moved);
    });
  };
}

const ask = makeWorker();
let files = 0;

const folderOf = (account: string): string => `account-${encodeURIComponent(account)}`;

/** Where a file that comes goes; it goes on behind what is there of it. */
export async function openKept(account: string, transferId: string, { index }: TransferFile): Promise<FileSink> {
  files += 1;
  const file = files;
  const offset = (await ask({ act: 'open', file, path: [folderOf(account), transferId, String(index)] })) as number;
  let at = offset;
  let filled = 0;
  let block = new Uint8Array(BLOCK_BYTES);
  let writing: Promise<unknown> = Promise.resolve();

  /** One block is written while the next one fills. */
  async function flush(): Promise<void> {
    await writing;
    if (filled === 0) return;
    const full = block.subarray(0, filled);
    const start = at;
    block = new Uint8Array(BLOCK_BYTES);
    at += filled;
    filled = 0;
    writing = ask({ act: 'write', file, at: start, bytes: full }, [full.buffer]);
    writing.catch(() => {});
  }

  async function finish(): Promise<void> {
    await flush();
    await writing;
    await ask({ act: 'close', file });
  }

  return {
    offset,
    read: () => storedStream(file, offset),
    async write(chunk) {
      for (let done = 0; done < chunk.length; ) {
        const part = chunk.subarray(done, done + BLOCK_BYTES - filled);
        block.set(part, filled);
        filled += part.length;
        done += part.length;
        if (filled === BLOCK_BYTES) await flush();
      }
    },
    close: finish,
    async abort(_reason, isFinal) {
      await finish().catch(() => {});
      if (isFinal) await removeKept(account, transferId);
    },
  };
}

function storedStream(file: number, length: number): ReadableStream<Uint8Array> {
  let at = 0;
  return new ReadableStream({
    async pull(controller) {
      const wanted = Math.min(BLOCK_BYTES, length - at);
      if (wanted <= 0) return controller.close();
      const bytes = (await ask({ act: 'read', file, at, length: wanted })) as Uint8Array;
      at += bytes.length;
      if (bytes.length === 0) controller.close();
      else controller.enqueue(bytes);
    },
  });
}

async function find(account: string, transferId: string): Promise<FileSystemDirectoryHandle | null> {
  try {
    const root = await navigator.storage.getDirectory();
    const folder = await root.getDirectoryHandle(folderOf(account));
    return await folder.getDirectoryHandle(transferId);
  } catch {
    return null;
  }
}

/** A file that was received; null when it is not here any more. It is read from the disk, not held in memory. */
export async function keptFile(account: string, transferId: string, index: number): Promise<File | null> {
  try {
    const handle = await (await find(account, transferId))?.getFileHandle(String(index));
    return handle === undefined ? null : await handle.getFile();
  } catch {
    return null;
  }
}

async function remove(path: readonly string[]): Promise<void> {
  try {
    let folder = await navigator.storage.getDirectory();
    for (const part of path.slice(0, -1)) folder = await folder.getDirectoryHandle(part);
    await folder.removeEntry(path.at(-1) ?? '', { recursive: true });
  } catch {
    // What is not there need not be removed.
  }
}

export const removeKept = (account: string, transferId: string): Promise<void> =>
  remove([folderOf(account), transferId]);

export const clearKept = (account: string): Promise<void> => remove([folderOf(account)]);

/** Files can be received: the page is secure and its browser has a file system for it. */
export const canKeepFiles = (): boolean => typeof navigator.storage?.getDirectory === 'function';
