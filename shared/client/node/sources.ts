import { createHash } from 'node:crypto';
import { createReadStream, statSync } from 'node:fs';
import { open, readdir, stat } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { Readable } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Hash } from '../api.ts';
import { BatonClientError } from '../errors/baton-client-error.ts';
import type { FileSource, Pieces } from '../files/files.ts';
import { type FoundFile, type PackSource, packSmall } from './packs.ts';
import { streamSource } from '../files/sources.ts';

/** As large as a disk likes, and small beside the piece that is sent. */
const READ_BYTES = 256 * 1024;

const toWeb = (stream: Readable): ReadableStream<Uint8Array> =>
  Readable.toWeb(stream, { strategy: { highWaterMark: 0 } }) as unknown as ReadableStream<Uint8Array>;

/** Several times as fast as the one that runs in browsers. */
export function sha256(): Hash {
  const hash = createHash('sha256');
  return { update: (bytes) => hash.update(bytes), hex: () => hash.digest('hex') };
}

/** What is read at a time where nothing is kept. */
const BLOCK_BYTES = 256 * 1024;

async function digestOf(path: string, size: number, signal: AbortSignal): Promise<string> {
  const file = await open(path);
  try {
    const hash = createHash('sha256');
    const block = new Uint8Array(Math.min(size, BLOCK_BYTES));
    for (let at = 0, bytes = -1; at < size && bytes !== 0; at += bytes) {
      signal.throwIfAborted();
      bytes = (await file.read(block, 0, Math.min(block.length, size - at), at)).bytesRead;
      hash.update(block.subarray(0, bytes));
    }
    return hash.digest('hex');
  } finally {
    await file.close();
  }
}

/** Reads into memory that is used again: streams leave what they read to the garbage collector. */
function piecesOf(path: string, size: number): Pieces {
  const failed = (message: string, cause?: unknown) =>
    new BatonClientError('source_failed', message, { action: 'tell-user', cause });
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
            throw failed(`${path} could not be read`, error);
          })
        ).bytesRead;
        if (read === 0) throw failed(`${path} ended after ${offset + filled} of ${size} bytes`);
      }
      return piece;
    },
    close() {
      file?.then((opened) => opened.close()).catch(() => {});
      file = null;
    },
  };
}

type Known = Pick<FoundFile, 'path' | 'name' | 'size'>;

const sourceOf = ({ path, name, size }: Known, type?: string): FileSource => ({
  ...{ name, size, replayable: true },
  ...(type !== undefined && { type }),
  open: (offset) => toWeb(createReadStream(path, { start: offset, highWaterMark: READ_BYTES })),
  digest: (signal) => digestOf(path, size, signal),
  pieces: () => piecesOf(path, size),
});

/** A file. `name`: what the receiver is told, its own last part unless given. */
export async function fileSource(path: string, about: { name?: string; type?: string } = {}): Promise<FileSource> {
  const found = await stat(path);
  if (!found.isFile()) throw new Error(`${path} is no file`);
  const { name = basename(resolve(path)), type } = about;
  return sourceOf({ path, name, size: found.size }, type);
}

/** Then other work has its turn: at once a file is looked at in a fifth of the time that the thread pool takes for it. */
const FILES_A_TURN = 64;

async function filesUnder(folder: string, name: string): Promise<FoundFile[]> {
  const entries = await readdir(folder, { withFileTypes: true });
  entries.sort((a, b) => (a.name < b.name ? -1 : 1));
  const found: FoundFile[][] = [];
  for (const [index, entry] of entries.entries()) {
    if (index % FILES_A_TURN === FILES_A_TURN - 1) await nextTurn();
    const [path, as] = [join(folder, entry.name), `${name}/${entry.name}`];
    if (entry.isDirectory()) found.push(await filesUnder(path, as));
    if (!entry.isFile()) continue;
    const { size, mtimeMs } = statSync(path);
    found.push([{ path, name: as, size, mtimeSeconds: Math.floor(mtimeMs / 1_000) }]);
  }
  return found.flat();
}

/**
 * Every file under a folder, by names that begin with the folder's own. Links and special files are left out. `packs`: where
 * there are many small ones they come as archives, which `folderSink` unpacks; other receivers keep the archives.
 */
export async function folderSources(path: string, { packs = false } = {}): Promise<(FileSource | PackSource)[]> {
  const name = basename(resolve(path));
  const found = await filesUnder(path, name);
  const sorted = packs ? packSmall(found, name) : { packs: [], others: found };
  return [...sorted.packs, ...sorted.others.map((file) => sourceOf(file))];
}

/** A Node stream of known size, which can be read once. */
export function readableSource(
  stream: Readable,
  about: { name: string; size: number; type?: string; sha256?: string },
): FileSource {
  return streamSource(toWeb(stream), about);
}
