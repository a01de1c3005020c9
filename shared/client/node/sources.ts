import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { Readable } from 'node:stream';
import type { Hash } from '../api.ts';
import { BatonClientError } from '../errors/baton-client-error.ts';
import type { FileSource, Pieces } from '../files/files.ts';
import { numberedName, offeredNames, type RenamedFile } from '../files/names.ts';
import { type DiskPath, type Found, findFile, findFiles, type IsExcluded, type SkippedFile } from './find-files.ts';
import { type FoundFile, type PackSource, packSmall } from './packs.ts';
import { streamSource } from '../files/sources.ts';

/** Large enough for a disk, and small compared with the piece that is sent. */
const READ_BYTES = 256 * 1024;

const toWeb = (stream: Readable): ReadableStream<Uint8Array> =>
  Readable.toWeb(stream, { strategy: { highWaterMark: 0 } }) as unknown as ReadableStream<Uint8Array>;

/** Makes a SHA-256 that is several times as fast as the one for browsers. */
export function sha256(): Hash {
  const hash = createHash('sha256');
  return { update: (bytes) => hash.update(bytes), hex: () => hash.digest('hex') };
}

/** How many bytes are read at a time if nothing is kept. */
const BLOCK_BYTES = 256 * 1024;

async function digestOf(
  path: DiskPath,
  size: number,
  signal: AbortSignal,
  onRead: (bytes: number) => void = () => {},
): Promise<string> {
  const file = await open(path);
  try {
    const hash = createHash('sha256');
    const block = new Uint8Array(Math.min(size, BLOCK_BYTES));
    for (let at = 0, bytes = -1; at < size && bytes !== 0; at += bytes) {
      signal.throwIfAborted();
      bytes = (await file.read(block, 0, Math.min(block.length, size - at), at)).bytesRead;
      hash.update(block.subarray(0, bytes));
      onRead(at + bytes);
    }
    return hash.digest('hex');
  } finally {
    await file.close();
  }
}

/** Reads into memory that is reused. Streams leave their chunks to the garbage collector. */
function piecesOf(path: DiskPath, size: number): Pieces {
  const failed = (message: string, cause?: unknown) => new BatonClientError('source_failed', message, { cause });
  const buffers = [new Uint8Array(0), new Uint8Array(0)];
  let file: ReturnType<typeof open> | null = null;
  let turn = 0;
  return {
    async at(offset, bytes) {
      const wanted = Math.min(bytes, size - offset);
      turn = 1 - turn;
      if ((buffers[turn] as Uint8Array).length < wanted) buffers[turn] = new Uint8Array(wanted);
      const piece = (buffers[turn] as Uint8Array<ArrayBuffer>).subarray(0, wanted);
      file ??= open(path);
      for (let filled = 0, read = 0; filled < wanted; filled += read) {
        const reading = file.then((opened) => opened.read(piece, filled, wanted - filled, offset + filled));
        read = (
          await reading.catch((error: unknown) => {
            throw failed(`${String(path)} could not be read`, error);
          })
        ).bytesRead;
        if (read === 0) throw failed(`${String(path)} ended after ${offset + filled} of ${size} bytes`);
      }
      return piece;
    },
    close() {
      file?.then((opened) => opened.close()).catch(() => {});
      file = null;
    },
  };
}

type Known = Pick<FoundFile, 'path' | 'name' | 'size' | 'mtimeSeconds'>;

const sourceOf = ({ path, name, size, mtimeSeconds }: Known, type?: string): FileSource => ({
  ...{ name, size, modifiedAt: mtimeSeconds * 1_000, replayable: true },
  ...(type !== undefined && { type }),
  open: (offset) => toWeb(createReadStream(path, { start: offset, highWaterMark: READ_BYTES })),
  digest: (signal, onRead) => digestOf(path, size, signal, onRead),
  pieces: () => piecesOf(path, size),
});

/**
 * Makes a source of a file. `name`: its name for the receiver. Default: the last part of the path, changed if the service
 * would refuse it.
 */
export async function fileSource(path: string, about: { name?: string; type?: string } = {}): Promise<FileSource> {
  const found = await findFile(path);
  const { names } = offeredNames([found.parts]);
  return sourceOf({ ...found, name: about.name ?? (names[0] as string) }, about.type);
}

/** The sources of files and folders, with the renamed and the skipped ones. */
export interface FoundSources {
  readonly sources: (FileSource | PackSource)[];
  readonly renamed: readonly RenamedFile[];
  readonly skipped: readonly SkippedFile[];
}

/** Renames a second folder of the same name, so that it does not become the first one. */
function apart(found: readonly Found[]): { found: readonly Found[]; renamed: RenamedFile[] } {
  const taken = new Set<string>();
  const renamed: RenamedFile[] = [];
  function apartOne(one: Found): Found {
    const [own = ''] = one.files[0]?.parts ?? [];
    let name = own;
    for (let number = 2; taken.has(name); number += 1) name = numberedName(own, number);
    if ((one.files[0]?.parts.length ?? 0) > 1) taken.add(name);
    if (name === own) return one;
    renamed.push({ path: own, name });
    return { ...one, files: one.files.map((file) => ({ ...file, parts: [name, ...file.parts.slice(1)] })) };
  }
  return { found: found.map(apartOne), renamed };
}

/**
 * Returns the files, and every file under the folders, with names that the service takes. `renamed` lists those that are
 * offered under another name, `skipped` those that are not sent (links, pipes, unreadable files, empty folders). `packs`:
 * many small files are sent as archives, which `folderSink` unpacks; other receivers keep the archives. `isExcluded` leaves
 * out entries by their path below the folder. Throws if one of the paths is neither a file nor a folder, or cannot be
 * read.
 */
export async function findSources(
  paths: readonly string[],
  { packs = false, isExcluded }: { packs?: boolean; isExcluded?: IsExcluded } = {},
): Promise<FoundSources> {
  const { found, renamed } = apart(await Promise.all(paths.map((path) => findFiles(path, isExcluded))));
  const offered = offeredNames(found.flatMap(({ files }) => files.map(({ parts }) => parts)));
  const sources: (FileSource | PackSource)[] = [];
  let at = 0;
  for (const { files } of found) {
    const named = files.map(({ path, size, mtimeSeconds }, index) => {
      return { path, name: offered.names[at + index] as string, size, mtimeSeconds };
    });
    at += files.length;
    const [top = ''] = named[0]?.name.split('/') ?? [];
    const isFolder = (files[0]?.parts.length ?? 0) > 1;
    const sorted = packs && isFolder ? packSmall(named, top) : { packs: [], others: named };
    sources.push(...sorted.packs, ...sorted.others.map((file) => sourceOf(file)));
  }
  return { sources, renamed: [...renamed, ...offered.renamed], skipped: found.flatMap((one) => one.skipped) };
}

/** Returns the sources of one folder, as `findSources` does. */
export const folderSources = async (path: string, { packs = false } = {}): Promise<(FileSource | PackSource)[]> =>
  (await findSources([path], { packs })).sources;

/** Makes a source of a Node stream of known size, which can be read once. */
export function readableSource(
  stream: Readable,
  about: { name: string; size: number; type?: string; sha256?: string },
): FileSource {
  return streamSource(toWeb(stream), about);
}
