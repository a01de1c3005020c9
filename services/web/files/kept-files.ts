import type { FileSink, TransferFile } from '../../../shared/client/index.ts';
import { pause } from '../../../shared/client/time/clock.ts';
import { isPassing } from '../engine/repeated.ts';
import { pauseMs } from '../outbox/verdict.ts';
import { askWorker, newFileNumber } from './ask-worker.ts';
import { whenFree } from './when-free.ts';

/** How many bytes are written at once. The network brings much smaller parts. */
const BLOCK_BYTES = 1024 * 1024;

const folderOf = (account: string): string => `account-${encodeURIComponent(account)}`;

/** The name of the archive that is made for a download. It lies beside the files of a transfer, whose names are numbers. */
export const ARCHIVE = 'archive.zip';
/** How long an archive stays, because a download of it may still be under way. */
const ARCHIVE_MS = 3_600_000;

export const keptPath = (account: string, transferId: string, name: string | number): string[] => [
  folderOf(account),
  transferId,
  String(name),
];

/** A sink that holds up to two blocks in memory. */
interface KeptSink extends FileSink {
  /** Returns how many bytes, from the beginning, are on the disk: a page that is reloaded need not get them again. */
  kept(): number;
}

type Opening = Parameters<typeof askWorker>[0] & { act: 'open' };

/** Opens a file in the worker. Tries again while the worker cannot be loaded, because an error here ends the transfer. */
async function openPatiently(request: Opening, signal: AbortSignal | undefined): Promise<number> {
  for (let failures = 0; ; failures += 1) {
    try {
      return (await askWorker(request)) as number;
    } catch (error) {
      if (!isPassing(error)) throw error;
    }
    await pause(pauseMs(failures), signal);
  }
}

/** Opens the sink of a received file. It continues after the stored bytes. */
export async function openKept(
  account: string,
  transferId: string,
  wanted: TransferFile,
  signal?: AbortSignal,
): Promise<KeptSink> {
  const file = newFileNumber();
  const about = { path: keptPath(account, transferId, wanted.index), isDigested: wanted.sha256 !== null };
  const offset = await openPatiently({ act: 'open', file, ...about }, signal);
  let at = offset;
  let onDisk = offset;
  let filled = 0;
  let block = new Uint8Array(BLOCK_BYTES);
  /** The block that was written before. There are only two blocks, however large the file. */
  let written: Promise<unknown> = Promise.resolve(new Uint8Array(BLOCK_BYTES));

  /** Writes one block while the next one fills. */
  async function flush(): Promise<void> {
    const { buffer } = (await written) as Uint8Array<ArrayBuffer>;
    if (filled === 0) return;
    const full = block.subarray(0, filled);
    const [start, end] = [at, at + filled];
    block = new Uint8Array(buffer);
    at = end;
    filled = 0;
    written = askWorker({ act: 'write', file, at: start, bytes: full }, [full.buffer]).then((memory) => {
      onDisk = end;
      return memory;
    });
    written.catch(() => {});
  }

  async function finish(): Promise<void> {
    try {
      await flush();
      await written;
    } finally {
      await askWorker({ act: 'close', file });
    }
  }

  return {
    offset,
    kept: () => onDisk,
    async write(chunk) {
      for (let done = 0; done < chunk.length; ) {
        const part = chunk.subarray(done, done + BLOCK_BYTES - filled);
        block.set(part, filled);
        filled += part.length;
        done += part.length;
        if (filled === BLOCK_BYTES) await flush();
      }
    },
    async digest() {
      await flush();
      // If the last block was not stored, the digest would be another one, and the sender would be blamed.
      await written;
      return (await askWorker({ act: 'digest', file })) as string;
    },
    close: finish,
    async abort(_reason, isFinal) {
      await finish().catch(() => {});
      if (isFinal) await removeKept(account, transferId);
    },
  };
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

/** Returns a received file; null when it is no longer here. The file is read from the disk, not held in memory. */
export async function keptFile(account: string, transferId: string, name: number | string): Promise<File | null> {
  try {
    const handle = await (await find(account, transferId))?.getFileHandle(String(name));
    return handle === undefined ? null : await handle.getFile();
  } catch {
    return null;
  }
}

/** Removes a file or a folder. Rejects if it exists and cannot be removed, such as a file that is open for writing. */
async function remove(path: readonly string[]): Promise<void> {
  // If the browser has no place for files, there are none.
  if ((await whyNoFiles()) !== null) return;
  try {
    let folder = await navigator.storage.getDirectory();
    for (const part of path.slice(0, -1)) folder = await folder.getDirectoryHandle(part);
    await folder.removeEntry(path.at(-1) ?? '', { recursive: true });
  } catch (error) {
    if (!(error instanceof DOMException && error.name === 'NotFoundError')) throw error;
  }
}

export const dropKept = (account: string, transferId: string, index: number): Promise<void> =>
  remove(keptPath(account, transferId, index));

/** Drops archives that were handed over some time ago; the files themselves stay. */
export async function dropArchives(account: string, transferIds: readonly string[]): Promise<void> {
  for (const transferId of transferIds) {
    const archive = await keptFile(account, transferId, ARCHIVE);
    if (archive !== null && archive.lastModified < Date.now() - ARCHIVE_MS)
      await remove(keptPath(account, transferId, ARCHIVE));
  }
}

export const removeKept = (account: string, transferId: string): Promise<void> =>
  remove([folderOf(account), transferId]);

/** Removes all files of an account whose session is over. Rejects if they stay. A file that is being written is closed soon. */
export const clearKept = (account: string): Promise<void> => whenFree(() => remove([folderOf(account)]));

/** Returns the code of the reason why no files can be received here; null: they can. */
export async function whyNoFiles(): Promise<'files_insecure' | 'files_blocked' | null> {
  try {
    await navigator.storage.getDirectory();
    return null;
  } catch {
    return isSecureContext ? 'files_blocked' : 'files_insecure';
  }
}
