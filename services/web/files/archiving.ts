import { makeZip, predictLength } from 'client-zip';

/** A file that is stored under its number, and its path in the archive. */
export interface ArchiveEntry {
  index: number;
  name: string;
  size: number;
  /** Its date in the archive; otherwise the time of reception. */
  modifiedAt?: number | undefined;
}

interface Archive {
  getSize(): number;
  truncate(bytes: number): void;
  write(bytes: Uint8Array, options: { at: number }): number;
}

/**
 * Writes all bytes at that place. If the disk or the quota is full, Chromium returns its error number as an unsigned
 * number (4294967288).
 */
export function writeAll(file: Pick<Archive, 'write'>, bytes: Uint8Array, at: number): void {
  for (let done = 0; done < bytes.length; ) {
    const written = file.write(bytes.subarray(done), { at: at + done });
    if (written <= 0 || written > bytes.length - done) throw new DOMException('The disk is full', 'QuotaExceededError');
    done += written;
  }
}

const isFull = (error: unknown): boolean => error instanceof DOMException && error.name === 'QuotaExceededError';

/** The dates that an archive can hold begin in 1980 and end in 2107. */
const [FIRST_MS, LAST_MS] = [Date.UTC(1980, 0, 2), Date.UTC(2107, 11, 30)];

const dateIn = (ms: number, otherwise: number): Date => new Date(ms > FIRST_MS && ms < LAST_MS ? ms : otherwise);

async function* kept(folder: FileSystemDirectoryHandle, entries: readonly ArchiveEntry[]) {
  for (const { index, name, size, modifiedAt } of entries) {
    const input = await (await folder.getFileHandle(String(index))).getFile();
    if (input.size !== size) throw new Error('A file is not whole');
    yield { input, name, lastModified: dateIn(modifiedAt ?? 0, input.lastModified) };
  }
}

/**
 * Writes one archive of files in the same folder, uncompressed and part by part. `full`: there is no space for it besides
 * the files, and no part of it is left. An archive of the right size is complete already, because its end is written last.
 */
export async function writeArchive(
  archive: Archive,
  folder: FileSystemDirectoryHandle,
  entries: readonly ArchiveEntry[],
): Promise<'ready' | 'full'> {
  const bytes = Number(predictLength(entries.map(({ name, size }) => ({ name, size }))));
  if (archive.getSize() === bytes) return 'ready';
  archive.truncate(0);
  const { quota = 0, usage = 0 } = await navigator.storage.estimate();
  if (quota - usage < bytes) return 'full';
  const reader = makeZip(kept(folder, entries)).getReader();
  try {
    let at = 0;
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      writeAll(archive, part.value, at);
      at += part.value.length;
    }
    if (at !== bytes) throw new Error('The archive is not whole');
    return 'ready';
  } catch (error) {
    archive.truncate(0);
    if (isFull(error)) return 'full';
    throw error;
  } finally {
    reader.cancel().catch(() => {});
  }
}
