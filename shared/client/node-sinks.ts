import { randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { lstat, mkdir, open, rename, rm, stat } from 'node:fs/promises';
import { join, sep } from 'node:path';
import { Readable, type Writable } from 'node:stream';
import type { FileSink, OpenSink } from './files.ts';
import type { TransferFile } from './wire.ts';

/** Room for `.part` with a digest, and for a number, in what common file systems take for a name. */
const NAME_BYTES = 255 - 40;
/** Names under which Windows has devices, with whatever ending. */
const DEVICES = /^(?:con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])(?:\.|$)/i;
/** Control characters, and those that turn the direction of what is shown. */
const HIDDEN = /[\x00-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

const codeOf = (error: unknown): unknown => (error as { code?: unknown }).code;

function cut(name: string): string {
  if (Buffer.byteLength(name) <= NAME_BYTES) return name;
  const dot = name.lastIndexOf('.');
  const ending = dot > 0 && name.length - dot <= 16 ? name.slice(dot) : '';
  const kept = Buffer.from(name.slice(0, name.length - ending.length)).subarray(0, NAME_BYTES - ending.length * 3);
  // A letter that was cut in two is left out.
  return kept.toString('utf8').replace(/\ufffd+$/, '') + ending;
}

/** A part of a path that any common file system takes. */
function safePart(part: string): string {
  const odd = sep === '\\' ? /[<>:"|?*\\/]/g : /[\\/]/g;
  const plain = cut(part.toWellFormed().replace(HIDDEN, '_').replace(odd, '_')).replace(/[. ]+$/, (end) =>
    '_'.repeat(end.length),
  );
  if (plain === '') return '_';
  return DEVICES.test(plain) ? `_${plain}` : plain;
}

const partsOf = (name: string): string[] => name.split('/').map(safePart);

async function sizeOf(path: string): Promise<number> {
  const found = await stat(path).catch((error: unknown) => {
    if (codeOf(error) === 'ENOENT') return null;
    throw error;
  });
  return found?.size ?? 0;
}

interface Places {
  /** Where the bytes are until all of them are there. */
  part: string;
  /** What is in it already is kept, and gone on with. */
  resumes: boolean;
  /** Gives the file its name. */
  finish: () => Promise<void>;
}

async function makeSink({ part, resumes, finish }: Places): Promise<FileSink> {
  const file = await open(part, resumes ? 'a' : 'w', 0o666);
  const offset = resumes ? await sizeOf(part) : 0;
  return {
    offset,
    read: () => Readable.toWeb(createReadStream(part)) as unknown as ReadableStream<Uint8Array>,
    async write(chunk) {
      for (let at = 0; at < chunk.length; ) at += (await file.write(chunk, at)).bytesWritten;
    },
    async close() {
      await file.datasync();
      await file.close();
      await finish();
    },
    async abort(_, isFinal) {
      await file.close().catch(() => {});
      if (isFinal || !resumes) await rm(part, { force: true });
    },
  };
}

/** A file under this very path, over whatever is there. Until it is whole it is `path + '.part'`, which is gone on with. */
export function fileSink(path: string): Promise<FileSink> {
  const part = `${path}.part`;
  return makeSink({ part, resumes: true, finish: () => rename(part, path) });
}

/** Takes the first of `name`, `name (2)`, ... that nothing has. */
async function claim(path: string): Promise<string> {
  const dot = path.lastIndexOf('.');
  const [stem, ending] = dot > path.lastIndexOf(sep) + 1 ? [path.slice(0, dot), path.slice(dot)] : [path, ''];
  for (let number = 1; ; number += 1) {
    const wanted = number === 1 ? path : `${stem} (${number})${ending}`;
    try {
      await (await open(wanted, 'wx')).close();
      return wanted;
    } catch (error) {
      if (codeOf(error) !== 'EEXIST') throw error;
    }
  }
}

/** Makes the folders of a file one by one: a link among them could lead anywhere. `made`: those that were looked at. */
async function makeFolders(top: string, parts: readonly string[], name: string, made: Set<string>): Promise<void> {
  for (let depth = 0; depth < parts.length; depth += 1) {
    const at = join(top, ...parts.slice(0, depth));
    if (made.has(at)) continue;
    if (depth === 0) {
      await mkdir(at, { recursive: true });
      made.add(at);
      continue;
    }
    await mkdir(at).catch((error: unknown) => {
      if (codeOf(error) !== 'EEXIST') throw error;
    });
    if (!(await lstat(at)).isDirectory()) throw new Error(`${name} would not be inside of the folder`);
    made.add(at);
  }
}

/**
 * A folder for whole transfers: never written outside of, and never over what is there. `onStored` is told under which path a
 * file is.
 */
export function folderSink(folder: string, onStored: (file: TransferFile, path: string) => void = () => {}): OpenSink {
  const made = new Set<string>();
  return async (file) => {
    const parts = partsOf(file.name);
    await makeFolders(folder, parts, file.name, made);
    const path = join(folder, ...parts);
    // What is gone on with has to be a part of the same file.
    const key = `${file.sha256?.slice(0, 16) ?? randomUUID().slice(0, 18)}-${file.index}`;
    const part = `${path}.${key}.part`;
    const finish = async () => {
      const claimed = await claim(path);
      await rename(part, claimed);
      onStored(file, claimed);
    };
    return makeSink({ part, resumes: file.sha256 !== null, finish });
  };
}

/** A Node stream, from the beginning of the file. `end: false` leaves it open afterwards, as standard output. */
export function writableSink(stream: Writable, { end = true } = {}): FileSink {
  const done = (work: (settle: (error?: Error | null) => void) => void): Promise<void> =>
    new Promise((resolve, reject) => {
      const fail = (error: Error) => reject(error);
      stream.once('error', fail);
      work((error) => {
        stream.off('error', fail);
        if (error) reject(error);
        else resolve();
      });
    });
  return {
    write: (chunk) => done((settle) => void stream.write(chunk, settle)),
    close: () => (end ? done((settle) => void stream.end(settle)) : undefined),
    abort: () => void (end && stream.destroy()),
  };
}
