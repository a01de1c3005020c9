import { createHash } from 'node:crypto';
import { closeSync, openSync, readSync } from 'node:fs';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { BatonClientError } from '../errors/baton-client-error.ts';
import type { FileSource, Pieces } from '../files/files.ts';
import { OPEN } from './disk.ts';
import type { DiskPath } from './find-files.ts';
import { TAR_END_BYTES, type TarFile, tarBytesOf, tarHeaderOf } from './tar.ts';
import { numberedName } from '../files/names.ts';
import { isPackable, packType } from '../files/pack.ts';

/** The least number of small files that are packed. Fewer arrive in half a second as single files. */
const LEAST_FILES = 64;
/**
 * The size of a pack: below that of files that move by themselves, so that some packs arrive while others are unpacked, and
 * small enough for memory.
 */
const MOST_BYTES = 1024 * 1024 - 512;

/** Leaves space for a number and `.tar` in the 255 bytes that the service takes. */
const PACK_NAME_BYTES = 240;

/** A file of a folder. */
export interface FoundFile extends TarFile {
  readonly path: DiskPath;
}

/** A source that is an archive of small files, made while it is read. */
export interface PackSource extends FileSource {
  readonly packed: readonly FoundFile[];
}

const unreadable = (message: string, cause?: unknown): BatonClientError =>
  new BatonClientError('source_failed', message, { cause });

/** Builds the archive that is sent. Other work gets its turn before, not in the middle: building takes some 10 ms. */
async function build(
  files: readonly FoundFile[],
  size: number,
  signal?: AbortSignal,
): Promise<Uint8Array<ArrayBuffer>> {
  await nextTurn();
  signal?.throwIfAborted();
  const archive = new Uint8Array(size);
  let at = 0;
  for (const file of files) {
    const header = tarHeaderOf(file);
    archive.set(header, at);
    readInto(archive, at + header.length, file);
    at += tarBytesOf(file);
  }
  return archive;
}

/** Reads a file synchronously, because a small file takes five times as long through the thread pool. */
function readInto(archive: Uint8Array, at: number, { path, size }: FoundFile): void {
  let bytes = 0;
  try {
    // A link or a pipe may have replaced the file by now.
    const file = openSync(path, OPEN.read);
    try {
      let read: number;
      do {
        // Reads up to one byte more than expected: the archive has space for it, because its end is empty.
        read = readSync(file, archive, at + bytes, size + 1 - bytes, null);
        bytes += read;
      } while (read > 0 && bytes < size);
    } finally {
      closeSync(file);
    }
  } catch (error) {
    throw unreadable(`${String(path)} could not be read`, error);
  }
  if (bytes !== size)
    throw unreadable(`${String(path)} has ${bytes > size ? 'more' : bytes} bytes now, and not ${size}`);
}

/** The memory for archives that were made for their digests. They stay until they are sent, so that files are read once. */
const KEPT_BYTES = 32 * 1024 * 1024;

function packSource(name: string, packed: readonly FoundFile[], memory: { freeBytes: number }): PackSource {
  const size = packed.reduce((sum, file) => sum + tarBytesOf(file), TAR_END_BYTES);
  let kept: Uint8Array<ArrayBuffer> | null = null;

  function keep(archive: Uint8Array<ArrayBuffer>): void {
    if (kept !== null || memory.freeBytes < size) return;
    kept = archive;
    memory.freeBytes -= size;
  }

  function free(): void {
    if (kept !== null) memory.freeBytes += size;
    kept = null;
  }

  return {
    ...{ name, size, packed, type: packType(packed.length), replayable: true },
    async open(offset, signal) {
      return new Blob([(await build(packed, size, signal)).subarray(offset)]).stream();
    },
    async digest(signal) {
      const archive = await build(packed, size, signal);
      keep(archive);
      return createHash('sha256').update(archive).digest('hex');
    },
    pieces(): Pieces {
      let built: Uint8Array<ArrayBuffer> | null = null;
      return {
        async at(offset, bytes) {
          built ??= kept ?? (await build(packed, size));
          return built.subarray(offset, offset + bytes);
        },
        close() {
          built = null;
          free();
        },
      };
    },
  };
}

/**
 * Divides the files of a folder into files that are sent by themselves and packs of the others. The names of packs begin
 * with `name`. If few files are small, it makes no packs.
 */
export function packSmall(found: readonly FoundFile[], name: string): { packs: PackSource[]; others: FoundFile[] } {
  const small: FoundFile[] = [];
  const others: FoundFile[] = [];
  for (const file of found) (isPackable(file) ? small : others).push(file);
  if (small.length < LEAST_FILES) return { packs: [], others: [...found] };
  const groups: FoundFile[][] = [];
  let freeBytes = 0;
  for (const file of small) {
    const bytes = tarBytesOf(file);
    if (bytes > freeBytes) {
      groups.push([]);
      freeBytes = MOST_BYTES - TAR_END_BYTES;
    }
    groups.at(-1)?.push(file);
    freeBytes -= bytes;
  }
  const memory = { freeBytes: KEPT_BYTES };
  const short = numberedName(name, 1, PACK_NAME_BYTES);
  const nameOf = (index: number) => (groups.length === 1 ? `${short}.tar` : `${short}.${index + 1}.tar`);
  return {
    packs: groups.map((group, index) => packSource(nameOf(index), group, memory)),
    others,
  };
}
