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

/** Nothing of it is fetched, or written. */
const storedSink = ({ size }: TransferFile): FileSink => ({ offset: size, isStored: true, write() {}, close() {} });

/** What `folderSink` may be told beside its folder. */
export interface FolderSinkOptions {
  /** Where it is noted what is stored: a folder that nobody else writes to. Default: the platform's, for the state of programs. */
  records?: string;
  /** The claim of this transfer, where the caller has made it already. */
  claim?: ReceiveClaim;
  /** A name may begin with a dot at the top; else the dot is stored as `_`. Default: false. */
  hidden?: boolean;
}

/** Told of each file that is stored, with its path. */
export type OnStored = (file: TransferFile, path: string) => void;
type Taking = ReturnType<typeof makeTaking>;

/** A folder that takes the files of one transfer. */
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
  let isOver: boolean | null = null;
  /** One pack after the other: packs that took turns would all be unpacked late, while none is fetched in their place. */
  let unpacking: Promise<void> = Promise.resolve();

  /** While a file is open nobody else may have it. */
  function leave(): void {
    if (openSinks > 0) return;
    if (isOver === true) {
      if (prefix !== null) for (const parts of allParts) parts.drop(prefix);
      claim?.remove();
    } else if (isOver === false) claim?.release();
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
        const whole = { key, id: idOfHandle(fd), parts, place, entry: 0, size, sha256 };
        const [path] = store.name(file, [whole]);
        onStored(file, path as string);
      },
    });
  }

  return {
    async open(file: TransferFile): Promise<FileSink> {
      const key = `${prefix ?? `${randomUUID()}-`}${file.index}.part`;
      openSinks += 1;
      try {
        // Before anything is fetched: a name that cannot be stored is refused at once. And for each file in its turn, those
        // that are stored too: who has which name of two that look alike is the same in each run.
        const place = store.placeFor(file.name);
        const stored: Earlier =
          (await claim?.find(file, top.path)) ?? new Map<number, { path: string; name?: string }>();
        if (stored.size < (isPack(file) ? filesIn(file) : 1)) return sinkFor(file, place, key, stored);
        const entries = [...stored].sort(([one], [other]) => one - other);
        for (const [, { name }] of entries) if (name !== undefined) store.placeFor(name);
        for (const [, { path }] of entries) onStored(file, path);
        // A process that died right after it stored this has left its part.
        topParts.drop(key);
        onEnd();
        return storedSink(file);
      } catch (error) {
        onEnd();
        throw error;
      }
    },
    /** `over`: nobody goes on with it. */
    end(over: boolean) {
      isOver = over;
      leave();
    },
  };
}

/** Removes what of a transfer that is over was not whole. */
export function dropParts(folder: string, transferId: string): void {
  if (!existsSync(folder)) return;
  const parts = partsIn(topFolder(folder));
  parts.drop(`${transferId}-`);
  parts.leave();
}

/**
 * A folder for whole transfers: never written outside of, and never over what is there. `onStored` is told under which path a
 * file is, of packs for each of their files. One process at a time takes a transfer: what another one has claimed is not
 * accepted here, with `taken`, and is left to it.
 */
export function folderSink(folder: string, onStored: OnStored = () => {}, options: FolderSinkOptions = {}): OpenSink {
  const takings = new Map<string, Promise<Taking>>();

  async function begin({ id, done }: RunningFile): Promise<Taking> {
    const given = options.claim?.transferId === id ? options.claim : null;
    const claim = given ?? (await claimSoon(receiveRecords(options.records), id));
    const taking = makeTaking(folder, onStored, claim, options.hidden);
    // What cannot be removed now is removed when it is old.
    done
      .then(
        () => taking.end(true),
        (error: unknown) => taking.end(!goesOn(failureOf(error))),
      )
      .catch(() => {});
    return taking;
  }

  function takingOf(running: RunningFile | undefined): Taking | Promise<Taking> {
    // By hand, for a file that belongs to no transfer.
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

/** Whoever has just stopped with it is closing its files. */
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
 * A file under this very path, over whatever is there. Until it is whole it is in the folder `.baton-parts` beside it, and is
 * gone on with from there. Throws `taken` where another process, or this one, writes it now.
 */
export async function fileSink(path: string): Promise<FileSink> {
  const parts = partsIn(topFolder(dirname(path)));
  const id = createHash('sha256').update(basename(path)).digest('hex');
  const claim = parts.claim(id);
  if (claim === null) throw taken();
  return makePartSink({
    ...{ parts, key: `${id}.part`, resumes: true, announced: null },
    finish: async () => parts.replace(`${id}.part`, basename(path)),
    onEnd(isKept) {
      if (isKept) claim.release();
      else claim.remove();
      parts.leave();
    },
  });
}

/** A Node stream, from the beginning of the file. `end: false` leaves it open afterwards, as standard output. */
export function writableSink(stream: Writable, { end = true } = {}): FileSink {
  // Told by `write` and `end` too. A stream says it once more afterwards, when nobody may be listening.
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
