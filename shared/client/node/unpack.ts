import { lstatSync, readFileSync, rmSync, unlinkSync, writeFileSync } from 'node:fs';
import { linkTo, numbered, unlessTaken } from './places.ts';
import { readTar } from './tar.ts';
import { checkPacked, filesIn } from '../files/pack.ts';
import type { TransferFile } from '../wire.ts';

/** Four times what is packed: an archive is in memory while it is unpacked. A larger one is kept as it is. */
const MOST_BYTES = 4 * 1024 * 1024;

export const isPack = (file: TransferFile): boolean => filesIn(file) > 1 && file.size <= MOST_BYTES;

interface Unpacking {
  /** Where a file of that name belongs, with its folders made. */
  placeFor: (name: string) => string;
  file: TransferFile;
  /** The archive, whole and with the digest that was announced. */
  part: string;
  /** An earlier process may have died in the middle of this: what it stored is not stored twice. */
  again: boolean;
  onStored: (file: TransferFile, path: string) => void;
}

/** Whether the file there has these bytes and no others. */
function holds(path: string, bytes: Uint8Array): boolean {
  const found = lstatSync(path, { throwIfNoEntry: false });
  return found?.isFile() === true && found.size === bytes.length && readFileSync(path).equals(bytes);
}

/**
 * Under the first name that nothing has; the name. It gets that when it is whole: a process that dies leaves a draft, which the
 * next one removes. Whatever else has the draft's name is not written to: it may be a link.
 */
function store(path: string, bytes: Uint8Array, draft: string, again: boolean): string {
  writeFileSync(draft, bytes, { flag: 'wx' });
  for (const name of numbered(path)) {
    if (again && holds(name, bytes)) {
      unlinkSync(draft);
      return name;
    }
    if (unlessTaken(() => linkTo(draft, name))) return name;
  }
  return path;
}

/** Every entry of an archive is looked at before the first is stored. */
function entriesOf(file: TransferFile, archive: Uint8Array) {
  const entries = readTar(archive);
  if (entries.length !== filesIn(file)) throw new Error(`the archive has ${entries.length} files`);
  checkPacked(entries);
  return entries;
}

/**
 * Stores the files of a pack in the folder, as if each had been sent by itself: never outside of it, and over nothing. At once,
 * some 15 ms: by way of the thread pool a small file takes several times as long, and packs that took turns would all be
 * unpacked late, while none is fetched in their place.
 */
export function unpack({ placeFor, file, part, again, onStored }: Unpacking): void {
  const entries = entriesOf(file, readFileSync(part));
  const draft = `${part}.draft`;
  // It may be a second name of a file that a process which died had stored.
  rmSync(draft, { force: true });
  for (const { name, bytes } of entries) {
    const stored = store(placeFor(name), bytes, draft, again);
    onStored({ ...file, name, size: bytes.length, type: null, sha256: null }, stored);
  }
  rmSync(draft, { force: true });
}
