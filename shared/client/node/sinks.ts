import { randomUUID } from 'node:crypto';
import { createReadStream, rmSync, writeSync } from 'node:fs';
import { mkdir, open, rename, rm, stat } from 'node:fs/promises';
import { Readable, type Writable } from 'node:stream';
import type { FileSink, OpenSink } from '../files/files.ts';
import { codeOf, giveName, makePlaces, placeOf } from './places.ts';
import { makeStoredRecord } from './record.ts';
import { isPack, unpack } from './unpack.ts';
import type { TransferFile } from '../wire.ts';

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
  /** An archive that is unpacked and removed again. */
  isPassing: boolean;
  /** Gives the file its name. */
  finish: () => void | Promise<void>;
}

async function makeSink({ part, resumes, isPassing, finish }: Places): Promise<FileSink> {
  const file = await open(part, resumes ? 'a' : 'w', 0o666);
  const offset = resumes ? await sizeOf(part) : 0;
  return {
    offset,
    read: () => Readable.toWeb(createReadStream(part)) as unknown as ReadableStream<Uint8Array>,
    async write(chunk) {
      for (let at = 0; at < chunk.length; ) {
        // A small one at once: the way through the thread pool takes several times as long as the parts of an archive.
        at += isPassing ? writeSync(file.fd, chunk, at) : (await file.write(chunk, at)).bytesWritten;
      }
    },
    async close() {
      // To wait for an archive is to wait for the thousand files before it: a quarter of a second each.
      if (!isPassing) await file.datasync();
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
  return makeSink({ part, resumes: true, isPassing: false, finish: () => rename(part, path) });
}

/** Nothing of it is fetched, or written. */
const storedSink = ({ size }: TransferFile): FileSink => ({ offset: size, isStored: true, write() {}, close() {} });

/**
 * A folder for whole transfers: never written outside of, and never over what is there. `onStored` is told under which path a
 * file is, of packs for each of their files. `record`: a file that lists what is stored, so that whoever goes on with the
 * transfer after this process does not take it twice; removed by the caller, when the transfer is over. `hidden`: a name may
 * begin with a dot at the top; else the dot is stored as `_`.
 */
export function folderSink(
  folder: string,
  onStored: (file: TransferFile, path: string) => void = () => {},
  { record: recordPath, hidden = false }: { record?: string; hidden?: boolean } = {},
): OpenSink {
  const placeFor = makePlaces(folder, { hidden });
  const record = recordPath === undefined ? null : makeStoredRecord(recordPath);
  return async (file) => {
    const path = isPack(file) ? placeOf(folder, file.name) : placeFor(file.name);
    // What is gone on with has to be a part of the same file.
    const key = `${file.sha256?.slice(0, 16) ?? randomUUID().slice(0, 18)}-${file.index}`;
    const part = `${path}.${key}.part`;
    const paths = (await record?.find(file.index)) ?? [];
    for (const stored of paths) onStored(file, stored);
    if (paths.length > 0) {
      // A process that died right after it unpacked this has left the archive.
      await rm(part, { force: true });
      return storedSink(file);
    }
    if (isPack(file)) await mkdir(folder, { recursive: true });
    const stored: string[] = [];
    const tell = (one: TransferFile, at: string) => {
      stored.push(at);
      onStored(one, at);
    };
    const sink: FileSink = await makeSink({
      ...{ part, resumes: file.sha256 !== null, isPassing: isPack(file) },
      finish() {
        if (isPack(file)) {
          unpack({ placeFor, file, part, again: sink.offset === file.size, onStored: tell });
        } else tell(file, giveName(part, path));
        record?.add(file.index, stored);
        if (isPack(file)) rmSync(part, { force: true });
      },
    });
    return sink;
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
