import type { Buffer } from 'node:buffer';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { BatonClientError } from './baton-client-error.ts';
import type { FileSource, Pieces } from './files.ts';
import { TAR_END_BYTES, type TarFile, tarBytesOf, tarHeaderOf } from './node-tar.ts';
import { isPackable, packType } from './pack.ts';

/** Fewer are there in half a second as they are. */
const LEAST_FILES = 64;
/** Below what is moved alone, so that some come while others are unpacked; and small enough to be in memory whole. */
const MOST_BYTES = 1024 * 1024 - 512;

/** A file of a folder. */
export interface FoundFile extends TarFile {
  readonly path: string;
}

/** A source that is an archive of small files, made while it is read. */
export interface PackSource extends FileSource {
  readonly packed: readonly FoundFile[];
}

const unreadable = (message: string, cause?: unknown): BatonClientError =>
  new BatonClientError('source_failed', message, { action: 'tell-user', cause });

/** Then other work has its turn. */
const FILES_A_TURN = 16;

/** The archive as it is sent. */
async function build(
  files: readonly FoundFile[],
  size: number,
  signal?: AbortSignal,
): Promise<Uint8Array<ArrayBuffer>> {
  const archive = new Uint8Array(size);
  let at = 0;
  for (const [index, file] of files.entries()) {
    if (index % FILES_A_TURN === 0) await nextTurn();
    signal?.throwIfAborted();
    // At once, since a small file takes five times as long by way of the thread pool.
    const bytes = readNow(file);
    const header = tarHeaderOf(file);
    archive.set(header, at);
    archive.set(bytes, at + header.length);
    at += tarBytesOf(file);
  }
  return archive;
}

function readNow({ path, size }: FoundFile): Buffer {
  let bytes: Buffer;
  try {
    bytes = readFileSync(path);
  } catch (error) {
    throw unreadable(`${path} could not be read`, error);
  }
  if (bytes.length !== size) throw unreadable(`${path} has ${bytes.length} bytes now, and not ${size}`);
  return bytes;
}

/** Archives that were made for their digests, until they have been sent: nothing of these is read twice. */
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
 * Divides the files of a folder in those that are sent by themselves and packs of the others, whose names begin with `name`. All
 * by themselves where few are small.
 */
export function packSmall(found: readonly FoundFile[], name: string): { packs: PackSource[]; others: FoundFile[] } {
  const small = found.filter(isPackable);
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
  const nameOf = (index: number) => (groups.length === 1 ? `${name}.tar` : `${name}.${index + 1}.tar`);
  return {
    packs: groups.map((group, index) => packSource(nameOf(index), group, memory)),
    others: found.filter((file) => !isPackable(file)),
  };
}
