/*
 * Works with the bytes of files: writes them into the private file system of the origin, digests and seals them. That file
 * system is the only store that every browser has, that takes more than memory holds, and that keeps its content over a
 * reload. Its handles exist only in workers. A digest in JavaScript blocks the page for as long as it takes, and a page
 * that seals is busy with the copies that WebCrypto makes.
 */
import type { Pieces } from '../../../shared/client/files/files.ts';
import { scriptSha256 } from '../../../shared/client/files/sha256.ts';
import { blobSource, makePieces } from '../../../shared/client/files/sources.ts';
import { sealedSource } from '../../../shared/client/sealing/sealed-source.ts';
import { type ArchiveEntry, writeAll, writeArchive } from './archiving.ts';
import { readBlob } from './blob-reading.ts';
import { filePieces } from './file-pieces.ts';
import { whenFree } from './when-free.ts';

interface SyncHandle {
  getSize(): number;
  truncate(bytes: number): void;
  read(into: Uint8Array, options: { at: number }): number;
  write(bytes: Uint8Array, options: { at: number }): number;
  flush(): void;
  close(): void;
}

/**
 * `file` is a number that the page chooses. For a file that is sent, the worker has only the digest, or the bytes that it
 * seals.
 */
export type FileRequest = { turn: number } & (
  | { act: 'open'; file: number; path: readonly string[]; isDigested: boolean }
  | { act: 'write'; file: number; at: number; bytes: Uint8Array }
  | { act: 'close'; file: number }
  /** Returns the digest, and ends the digesting. */
  | { act: 'digest'; file: number }
  | { act: 'digest-blob'; file: number; blob: Blob }
  /** Seals a part of a file, into the memory that it gets, or as a part of a file. One after the other for each number. */
  | ({
      act: 'seal';
      file: number;
      blob: File;
      index: number;
      key: Uint8Array<ArrayBuffer>;
      transferId: string;
      at: number;
    } & ({ memory: ArrayBuffer } | { length: number }))
  /** Makes an archive of files that are stored beside it. */
  | { act: 'archive'; file: number; path: readonly string[]; entries: readonly ArchiveEntry[] }
);
/** `done`: the number of bytes so far; the answer comes later. */
export type FileAnswer = { turn: number } & (
  | { value: unknown }
  /** `isHeld`: another page has the file open, and may close it. */
  | { error: string; isHeld?: boolean }
  | { done: number }
);

const scope = self as unknown as {
  postMessage(message: FileAnswer, transfer: Transferable[]): void;
  addEventListener(name: 'message', listener: (event: MessageEvent<FileRequest>) => void): void;
};

type Hash = ReturnType<typeof scriptSha256>;

const handles = new Map<number, SyncHandle>();
const hashes = new Map<number, Hash>();
const sealing = new Map<number, Pieces>();
/** How many bytes are read at a time. */
const PART_BYTES = 1024 * 1024;

async function folderOf(path: readonly string[]): Promise<FileSystemDirectoryHandle> {
  let folder = await navigator.storage.getDirectory();
  for (const part of path.slice(0, -1)) folder = await folder.getDirectoryHandle(part, { create: true });
  return folder;
}

/** A page that was left, or the tab that received before, may still have the file open. */
const isOpenElsewhere = (error: unknown): boolean =>
  error instanceof DOMException && error.name === 'NoModificationAllowedError';

async function openHandle(path: readonly string[]): Promise<SyncHandle> {
  const folder = await folderOf(path);
  const handle = await folder.getFileHandle(path.at(-1) ?? '', { create: true });
  const file = handle as unknown as { createSyncAccessHandle(): Promise<SyncHandle> };
  return whenFree(() => file.createSyncAccessHandle(), isOpenElsewhere);
}

function hashOf(file: number): Hash {
  const hash = hashes.get(file) ?? scriptSha256();
  hashes.set(file, hash);
  return hash;
}

/** Digests the stored bytes first. Other files get their turns in between. */
async function digestStored(handle: SyncHandle, hash: Hash): Promise<void> {
  const bytes = new Uint8Array(PART_BYTES);
  for (let at = 0; at < handle.getSize(); ) {
    const read = handle.read(bytes, { at });
    if (read === 0) throw new Error('What is stored cannot be read');
    hash.update(bytes.subarray(0, read));
    at += read;
    await new Promise((resolve) => setTimeout(resolve));
  }
}

async function open({ file, path, isDigested }: Extract<FileRequest, { act: 'open' }>): Promise<number> {
  const handle = await openHandle(path);
  handles.set(file, handle);
  try {
    if (isDigested) await digestStored(handle, hashOf(file));
    return handle.getSize();
  } catch (error) {
    // The page gets no file that it could close.
    close(file);
    throw error;
  }
}

function write({ file, at, bytes }: Extract<FileRequest, { act: 'write' }>): Uint8Array {
  const handle = handles.get(file);
  if (handle === undefined) throw new Error('The file is closed');
  writeAll(handle, bytes, at);
  hashes.get(file)?.update(bytes);
  // The page reuses this memory.
  return bytes;
}

function close(file: number): null {
  const handle = handles.get(file);
  handles.delete(file);
  hashes.delete(file);
  sealing.get(file)?.close();
  sealing.delete(file);
  try {
    handle?.flush();
  } finally {
    // A full disk stores nothing more. A file that stayed open could not even be removed.
    handle?.close();
  }
  return null;
}

function digest(file: number): string {
  const hash = hashOf(file);
  hashes.delete(file);
  return hash.hex();
}

/** Digests a file that is sent. `close` ends the digesting. */
async function digestBlob({ turn, file, blob }: Extract<FileRequest, { act: 'digest-blob' }>): Promise<string> {
  const hash = hashOf(file);
  const reader = readBlob(blob);
  let memory = new ArrayBuffer(PART_BYTES);
  try {
    for (let at = 0; at < blob.size; ) {
      const bytes = await reader.read(memory);
      if (hashes.get(file) !== hash) throw new Error('It was stopped');
      if (bytes.length === 0) throw new Error('The file has become shorter');
      hash.update(bytes);
      memory = bytes.buffer;
      at += bytes.length;
      scope.postMessage({ turn, done: at }, []);
    }
    return digest(file);
  } finally {
    reader.close();
    hashes.delete(file);
  }
}

function sealedPieces({ file, blob, index, key, transferId }: Extract<FileRequest, { act: 'seal' }>): Pieces {
  const known = sealing.get(file);
  if (known !== undefined) return known;
  const parts = { index, key, transferId: Promise.resolve(transferId) };
  const source = sealedSource({ ...blobSource(blob), pieces: () => filePieces(blob) }, parts);
  const pieces = makePieces(source, new AbortController().signal);
  sealing.set(file, pieces);
  return pieces;
}

async function seal(request: Extract<FileRequest, { act: 'seal' }>): Promise<Blob | Uint8Array> {
  const length = 'memory' in request ? request.memory.byteLength : request.length;
  const piece = await sealedPieces(request).at(request.at, length);
  if (!('memory' in request)) return new Blob([piece]);
  const bytes = new Uint8Array(request.memory, 0, piece.length);
  bytes.set(piece);
  return bytes;
}

async function archive({ path, entries }: Extract<FileRequest, { act: 'archive' }>): Promise<'ready' | 'full'> {
  const handle = await openHandle(path);
  try {
    return await writeArchive(handle, await folderOf(path), entries);
  } finally {
    handle.close();
  }
}

async function perform(request: FileRequest): Promise<unknown> {
  if (request.act === 'open') return open(request);
  if (request.act === 'write') return write(request);
  if (request.act === 'close') return close(request.file);
  if (request.act === 'digest') return digest(request.file);
  if (request.act === 'seal') return seal(request);
  if (request.act === 'archive') return archive(request);
  return digestBlob(request);
}

scope.addEventListener('message', ({ data }) => {
  perform(data).then(
    (value) => {
      const moved = value instanceof Uint8Array ? [value.buffer as ArrayBuffer] : [];
      scope.postMessage({ turn: data.turn, value }, moved);
    },
    (error: unknown) =>
      scope.postMessage(
        {
          turn: data.turn,
          error: error instanceof Error ? error.message : String(error),
          isHeld: isOpenElsewhere(error),
        },
        [],
      ),
  );
});
