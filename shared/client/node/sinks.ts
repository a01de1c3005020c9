import { createHash, randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import type { Writable } from 'node:stream';
import { failureOf, goesOn } from '../errors/failure.ts';
import type { FileSink, OpenSink, RunningFile } from '../files/files.ts';
import { filesIn } from '../files/pack.ts';
import { idOfHandle, readWhole } from './disk.ts';
import { makePartSink } from './part-sink.ts';
import { type Parts, partsIn } from './parts.ts';
import { type Folder, makePlaces, type Place, topFolder } from './places.ts';
import { type ReceiveClaim, type ReceiveRecords, receiveRecords } from './record.ts';
import { makeStore, type Store, taken } from './store.ts';
import { isPack, unpack } from './unpack.ts';
import type { TransferFile } from '../wire.ts';

/** Returns the sink of a stored file: it fetches and writes nothing. */
const storedSink = ({ size }: TransferFile): FileSink => ({ offset: size, isStored: true, write() {}, close() {} });

/** The options of `folderSink`. */
export interface FolderSinkOptions {
  /** The folder of the records, which nobody else writes to. Default: the platform's folder for the state of programs. */
  records?: string;
  /** The claim of this transfer, if the caller has made it already. */
  claim?: ReceiveClaim;
  /** Allows a leading dot at the top; otherwise the dot is stored as `_`. Default: false. */
  hidden?: boolean;
}

/** Called for each stored file with its path. */
export type OnStored = (file: TransferFile, path: string) => void;
type Taking = ReturnType<typeof makeTaking>;

/** Makes the folder that takes the files of one transfer. */
function makeTaking(folder: string, onStored: OnStored, claim: ReceiveClaim | null, hidden = false) {
  const top: Folder = topFolder(folder);
  const allParts = new Set<Parts>();
  const openParts = (at: Folder) => {
    const parts = partsIn(at);
    allParts.add(parts);
    return parts;
  };
  const topParts = openParts(top);
  const placeFor = makePlaces(top, { hidden });
  const store: Store = makeStore({ top, placeFor, topParts, openParts, claim });
  const prefix = claim === null ? null : `${claim.transferId}-`;
  let openSinks = 0;
  let end: 'done' | 'failed' | 'left' | null = null;
  const announced: TransferFile[] = [];
  /**
   * Packs are unpacked one after the other. If they took turns, all would end late, and none would make way early for the
   * next download.
   */
  let unpacking: Promise<void> = Promise.resolve();

  /** Leaves the transfer to others, unless a file is still open. */
  function leave(): void {
    if (openSinks > 0) return;
    if (end === 'left') claim?.release();
    else if (end !== null) {
      if (prefix !== null) for (const parts of allParts) parts.drop(prefix);
      if (end === 'done') claim?.finish(announced);
      else claim?.remove();
    }
    for (const parts of allParts) parts.leave();
  }

  const onEnd = () => {
    openSinks -= 1;
    leave();
  };

  type Earlier = ReadonlyMap<number, { path: string; name?: string | undefined }>;

  function sinkFor(file: TransferFile, place: Place, key: string, stored: Earlier): FileSink {
    const parts = isPack(file) ? topParts : store.partsFor(place.folder);
    return makePartSink({
      ...{ parts, key, announced: file, isPassing: isPack(file), onEnd },
      resumes: file.sha256 !== null && claim !== null,
      async finish(fd, { size, sha256 }) {
        if (isPack(file)) {
          const archive = await readWhole(fd, size);
          unpacking = unpacking.catch(() => {}).then(() => unpack({ store, file, archive, key, stored, onStored }));
          return unpacking;
        }
        const about = { key, id: idOfHandle(fd), parts, place, entry: 0, size, sha256 };
        const whole = { ...about, modifiedAt: file.modified_at };
        const [path] = store.name(file, [whole]);
        onStored(file, path as string);
      },
    });
  }

  return {
    async open(file: TransferFile): Promise<FileSink> {
      const key = `${prefix ?? `${randomUUID()}-`}${file.index}.part`;
      openSinks += 1;
      announced.push(file);
      try {
        if (claim?.hasReceived(file)) {
          onEnd();
          return storedSink(file);
        }
        // The place is chosen before anything is fetched, so that a name that cannot be stored is refused at once. Stored
        // files get their turn too, so that of two names that look alike each has the same place in each run.
        const place = store.placeFor(file.name);
        const stored: Earlier =
          (await claim?.find(file, top.path)) ?? new Map<number, { path: string; name?: string }>();
        if (stored.size < (isPack(file) ? filesIn(file) : 1)) return sinkFor(file, place, key, stored);
        const entries = [...stored].sort(([one], [other]) => one - other);
        for (const [, { name }] of entries) if (name !== undefined) store.placeFor(name);
        for (const [, { path }] of entries) onStored(file, path);
        // A process that died right after it stored this file has left its part.
        topParts.drop(key);
        onEnd();
        return storedSink(file);
      } catch (error) {
        onEnd();
        throw error;
      }
    },
    /** Stops taking the transfer. `left`: somebody may resume it. */
    end(how: 'done' | 'failed' | 'left') {
      end = how;
      leave();
    },
  };
}

/** Removes the incomplete files of a transfer that is over. */
export function dropParts(folder: string, transferId: string): void {
  if (!existsSync(folder)) return;
  const parts = partsIn(topFolder(folder));
  parts.drop(`${transferId}-`);
  parts.leave();
}

/**
 * Stores whole transfers in a folder. It never writes outside the folder, and never replaces a file. `onStored` is called
 * with the path of each file, including each file of a pack. One process at a time takes a transfer: one that another
 * process has claimed is refused with `taken` and left to that process.
 */
export function folderSink(folder: string, onStored: OnStored = () => {}, options: FolderSinkOptions = {}): OpenSink {
  const takings = new Map<string, Promise<Taking>>();

  async function begin({ id, done }: RunningFile): Promise<Taking> {
    const given = options.claim?.transferId === id ? options.claim : null;
    const claim = given ?? (await claimSoon(receiveRecords(options.records), id));
    const taking = makeTaking(folder, onStored, claim, options.hidden);
    // Files that cannot be removed now are removed when they are old.
    done
      .then(
        () => taking.end('done'),
        (error: unknown) => taking.end(goesOn(failureOf(error)) ? 'left' : 'failed'),
      )
      .catch(() => {});
    return taking;
  }

  function takingOf(running: RunningFile | undefined): Taking | Promise<Taking> {
    // A caller may use the sink for a file that belongs to no transfer.
    if (running === undefined) return makeTaking(folder, onStored, null, options.hidden);
    const { id, done } = running;
    const known = takings.get(id) ?? begin(running);
    if (!takings.has(id)) {
      takings.set(id, known);
      const forget = () => void takings.delete(id);
      known.catch(forget);
      done.then(forget, forget);
    }
    return known;
  }

  return async (file, _, running) => (await takingOf(running)).open(file);
}

/** How long to wait for a process that has just stopped and is closing its files. */
const SOON = { tries: 20, everyMs: 50 };

async function claimSoon(records: ReceiveRecords, id: string): Promise<ReceiveClaim> {
  for (let tries = 0; tries < SOON.tries; tries += 1) {
    const claim = records.claim(id);
    if (claim !== null) return claim;
    await new Promise((resolve) => setTimeout(resolve, SOON.everyMs));
  }
  throw taken();
}

/**
 * Stores a file under exactly this path, and replaces what is there. Until the file is complete it lies in the folder
 * `.baton-parts` beside it, from where it can be resumed. Throws `taken` if another process, or this one, writes it now.
 */
export async function fileSink(path: string): Promise<FileSink> {
  const parts = partsIn(topFolder(dirname(path)));
  const id = createHash('sha256').update(basename(path)).digest('hex');
  const claim = parts.claim(id);
  if (claim === null) throw taken();
  const onEnd = (isKept: boolean): void => {
    if (isKept) claim.release();
    else claim.remove();
    parts.leave();
  };
  try {
    return makePartSink({
      ...{ parts, key: `${id}.part`, resumes: true, announced: null, onEnd },
      finish: async () => parts.replace(`${id}.part`, basename(path)),
    });
  } catch (error) {
    // The caller gets no sink that it could end, and may try again.
    onEnd(false);
    throw error;
  }
}

/** Writes a file to a Node stream, from its beginning. `end: false` leaves the stream open, as for standard output. */
export function writableSink(stream: Writable, { end = true } = {}): FileSink {
  // `write` and `end` report errors too. A stream emits the error once more afterwards, when nobody may listen.
  stream.on('error', () => {});
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
