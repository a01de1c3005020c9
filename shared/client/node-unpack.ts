import { closeSync, lstatSync, openSync, readFileSync, writeSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { giveName, makeFolders, partsOf } from './node-places.ts';
import { readTar } from './node-tar.ts';
import { checkPacked, filesIn } from './pack.ts';
import type { TransferFile } from './wire.ts';

/** Four times what is packed: an archive is in memory while it is unpacked. A larger one is kept as it is. */
const MOST_BYTES = 4 * 1024 * 1024;

export const isPack = (file: TransferFile): boolean => filesIn(file) > 1 && file.size <= MOST_BYTES;

interface Unpacking {
  folder: string;
  file: TransferFile;
  /** The archive, whole and with the digest that was announced. */
  part: string;
  made: Set<string>;
  /** An earlier process may have died in the middle of this: what it stored is not stored twice. */
  again: boolean;
  onStored: (file: TransferFile, path: string) => void;
}

/** At once, since a small file takes three times as long by way of the thread pool. */
function store(path: string, bytes: Uint8Array): void {
  const opened = openSync(path, 'w', 0o666);
  try {
    for (let at = 0; at < bytes.length; ) at += writeSync(opened, bytes, at);
  } finally {
    closeSync(opened);
  }
}

function holds(path: string, bytes: Uint8Array): boolean {
  const found = lstatSync(path);
  return found.isFile() && found.size === bytes.length && readFileSync(path).equals(bytes);
}

/** Every entry of an archive is looked at before the first is stored. */
function entriesOf(file: TransferFile, archive: Uint8Array) {
  const entries = readTar(archive);
  if (entries.length !== filesIn(file)) throw new Error(`the archive has ${entries.length} files`);
  checkPacked(entries);
  return entries;
}

/** Stores the files of a pack in the folder, as if each had been sent by itself: never outside of it, and over nothing. */
export async function unpack({ folder, file, part, made, again, onStored }: Unpacking): Promise<void> {
  for (const { name, bytes } of entriesOf(file, await readFile(part))) {
    // Other work has its turn between two files.
    await turn();
    const parts = partsOf(name);
    await makeFolders(folder, parts, name, made);
    const path = join(folder, ...parts);
    // Beside it, since a folder may be on another disk.
    const own = `${path}.${file.index}.part`;
    store(own, bytes);
    const stored = giveName(own, path, (there) => again && holds(there, bytes));
    onStored({ ...file, name, size: bytes.length, type: null, sha256: null }, stored);
  }
}
