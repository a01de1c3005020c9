import { createHash } from 'node:crypto';
import { readSync, writeSync } from 'node:fs';
import { closeFile, idOfHandle, syncFile } from './disk.ts';
import type { Store, Whole } from './store.ts';
import { readTar, type TarEntry } from './tar.ts';
import { checkPacked, filesIn } from '../files/pack.ts';
import type { TransferFile } from '../wire.ts';

export const isPack = (file: TransferFile): boolean => filesIn(file) > 1;

interface Unpacking {
  store: Store;
  file: TransferFile;
  /** The complete archive, whose digest was compared. */
  archive: Uint8Array;
  /** The beginning of the names of part files. */
  key: string;
  /** The entries that an earlier process has stored, by number. */
  stored: ReadonlyMap<number, { readonly path: string }>;
  onStored: (file: TransferFile, path: string) => void;
}

/** Reads and checks every entry of an archive, before the first is stored. */
function entriesOf(file: TransferFile, archive: Uint8Array): TarEntry[] {
  const entries = readTar(archive);
  if (entries.length !== filesIn(file)) throw new Error(`the archive has ${entries.length} files`);
  checkPacked(entries);
  return entries;
}

/** Tells whether the file holds these bytes, by reading it back. */
function holds(fd: number, bytes: Uint8Array): boolean {
  const found = Buffer.alloc(bytes.length + 1);
  let at = 0;
  for (let read = -1; read !== 0 && at < found.length; at += read)
    read = readSync(fd, found, at, found.length - at, at);
  return found.subarray(0, at).equals(bytes);
}

const draftKey = (key: string, entry: number): string => `${key}.${entry}.draft`;

/** Writes an entry into a separate part file, on the disk. */
async function draft({ store, key }: Unpacking, { name, bytes, modifiedAt }: TarEntry, entry: number): Promise<Whole> {
  const place = store.placeFor(name);
  const parts = store.partsFor(place.folder);
  const { fd } = parts.open(draftKey(key, entry), false);
  try {
    for (let at = 0; at < bytes.length; ) at += writeSync(fd, bytes, at);
    await syncFile(fd);
    if (!holds(fd, bytes)) throw new Error(`${name} is not on the disk as it came`);
    const sha256 = createHash('sha256').update(bytes).digest('hex');
    return {
      ...{ key: draftKey(key, entry), id: idOfHandle(fd), parts, place, entry, name, size: bytes.length, sha256 },
      modifiedAt,
    };
  } finally {
    await closeFile(fd);
  }
}

/** How many files are written at a time: the disk takes several, and handles are few. */
const AT_A_TIME = 16;

/**
 * Stores the files of a pack in the folder, as if each had been sent by itself: never outside the folder, and never over
 * another file. All of them are on the disk under other names before the first gets its own. A failure leaves none. A
 * process that is killed leaves complete files, which the next one finds in the record.
 */
export async function unpack(unpacking: Unpacking): Promise<void> {
  const { store, file, archive, key, stored, onStored } = unpacking;
  const entries = entriesOf(file, archive);
  // Stored entries get their turn too, so that of two names that look alike each has the same place in each run.
  for (const { name } of entries) store.placeFor(name);
  const missing = [...entries.entries()].filter(([entry]) => !stored.has(entry));
  const drafts: Whole[] = [];
  const used = new Set([store.partsFor(store.top)]);
  try {
    for (let at = 0; at < missing.length; at += AT_A_TIME) {
      const made = missing.slice(at, at + AT_A_TIME).map(([entry, found]) => draft(unpacking, found, entry));
      const settled = await Promise.allSettled(made);
      for (const one of settled) {
        if (one.status === 'rejected') throw one.reason;
        drafts.push(one.value);
        used.add(one.value.parts);
      }
    }
    const paths = store.name(file, drafts);
    const pathOf = new Map(drafts.map(({ entry }, index) => [entry, paths[index] as string]));
    for (const [entry, { name, bytes }] of entries.entries()) {
      const path = stored.get(entry)?.path ?? pathOf.get(entry);
      if (path !== undefined) onStored({ ...file, name, size: bytes.length, type: null, sha256: null }, path);
    }
  } finally {
    // Also removes the parts of a process that died in the middle of this.
    for (const parts of used) parts.drop(`${key}.`);
  }
}
