import { numberedName } from '../../../shared/client/files/names.ts';
import { inLock } from '../locks.ts';

/* A folder of the user that the browser lets the page write to. Its present content stays unchanged. */

/** The lock of all tabs of this browser, so that two that save at once do not take the same name. */
const LOCK = 'baton-save';

const nameOf = (error: unknown): string => (error instanceof DOMException ? error.name : '');

/** Returns null if nothing has that name. */
async function unlessMissing<T>(look: () => Promise<T>): Promise<T | null> {
  try {
    return await look();
  } catch (error) {
    if (nameOf(error) === 'NotFoundError') return null;
    throw error;
  }
}

/** Returns a harmless name: browsers have more rules than file systems, such as against shortcuts of Windows (`.lnk`). */
const plainest = (name: string): string => `${name.replace(/[^\p{L}\p{M}\p{N}\p{P}\p{S}]/gu, '_')}_`;

/** Takes the first name, numbered if needed, that `take` does not find in use. */
async function firstFree<T>(wanted: string, take: (name: string) => Promise<T | null>): Promise<T> {
  for (let [number, name] = [1, wanted]; ; number += 1) {
    try {
      const taken = await take(numberedName(name, number));
      if (taken !== null) return taken;
    } catch (error) {
      if (!(error instanceof TypeError) || name !== wanted) throw error;
      name = plainest(wanted);
      number = 0;
    }
  }
}

/** Reserves a name with an empty file. */
const reserve = (folder: FileSystemDirectoryHandle, wanted: string): Promise<FileSystemFileHandle> =>
  inLock(LOCK, () =>
    firstFree(wanted, async (name) => {
      try {
        if ((await unlessMissing(() => folder.getFileHandle(name))) !== null) return null;
      } catch (error) {
        // A folder has the name.
        if (nameOf(error) === 'TypeMismatchError') return null;
        throw error;
      }
      const made = await folder.getFileHandle(name, { create: true });
      // Another program may have made it since. A browser cannot check and create in one step, but bytes in it are not ours.
      return (await made.getFile()).size === 0 ? made : null;
    }),
  );

/** Opens the folder of that name; if a file has the name, one with a number. */
const openFolder = (folder: FileSystemDirectoryHandle, wanted: string): Promise<FileSystemDirectoryHandle> =>
  firstFree(wanted, async (name) => {
    try {
      return await folder.getDirectoryHandle(name, { create: true });
    } catch (error) {
      if (nameOf(error) === 'TypeMismatchError') return null;
      throw error;
    }
  });

/** Copies from disk to disk, so that a file is never in memory as a whole. Throws if the stored file is not complete. */
export async function copyTo(file: File, to: FileSystemFileHandle): Promise<void> {
  await file.stream().pipeTo(await to.createWritable());
  const { size } = await to.getFile();
  if (size !== file.size) throw new Error(`${size} of ${file.size} bytes are stored`);
}

/** Stores files under a folder. A file whose bytes cannot be written leaves nothing behind. */
export function makeFolderSaver(top: FileSystemDirectoryHandle) {
  const known = new Map<string, Promise<FileSystemDirectoryHandle>>([['', Promise.resolve(top)]]);

  async function folderOf(parts: readonly string[]): Promise<FileSystemDirectoryHandle> {
    const key = parts.join('/');
    const found = known.get(key);
    if (found !== undefined) return found;
    const made = folderOf(parts.slice(0, -1)).then((above) => openFolder(above, parts.at(-1) ?? ''));
    known.set(key, made);
    return made;
  }

  return async (file: File, path: readonly string[]): Promise<void> => {
    const folder = await folderOf(path.slice(0, -1));
    const to = await reserve(folder, path.at(-1) ?? 'file');
    try {
      await copyTo(file, to);
    } catch (error) {
      await folder.removeEntry(to.name).catch(() => {});
      throw error;
    }
  };
}
