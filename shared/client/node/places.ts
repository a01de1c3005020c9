import { closeSync, existsSync, fstatSync, lstatSync, mkdirSync, openSync, realpathSync } from 'node:fs';
import { join, sep } from 'node:path';
import { foldedName, makeStoredNames, numberedName } from '../files/names.ts';
import { idOf, idOfHandle, OPEN } from './disk.ts';
import { isRefusedName, unlessTaken } from './file-errors.ts';

/**
 * Places for files: always inside a folder, whatever their names are, and whatever others do in that folder meanwhile.
 *
 * Folders are made one by one, and a link among them is refused. Somebody may replace a folder with a link later, so a
 * folder is known by its device and inode: it is opened and compared before anything is done in it. On Linux everything then
 * goes through the handle (`/proc/self/fd`), so that no name is resolved again. Elsewhere the name is used right after it
 * was compared.
 */

/** A checked folder. It stays the same folder, whatever its path leads to later. */
export interface Folder {
  readonly path: string;
  readonly id: string;
  /** A file can get a name only within one file system. */
  readonly device: bigint;
}

const HAS_HANDLES = existsSync('/proc/self/fd');

const outside = (path: string): Error => new Error(`${path} would not be inside of the folder`);

/** Runs `work` with a path that leads to this very folder. Throws if another one has replaced it. */
export function within<T>({ path, id }: Folder, work: (at: string, fd: number) => T): T {
  const fd = openSync(path, OPEN.folder);
  try {
    if (!fstatSync(fd).isDirectory() || idOfHandle(fd) !== id) throw outside(path);
    return work(HAS_HANDLES ? `/proc/self/fd/${fd}` : path, fd);
  } finally {
    closeSync(fd);
  }
}

function folderAt(at: string, path: string): Folder {
  const found = lstatSync(at, { bigint: true });
  if (!found.isDirectory()) throw outside(path);
  return { path, id: idOf(found), device: found.dev };
}

/** Opens the folder that the caller asks for, which may be a link itself. */
export function topFolder(path: string): Folder {
  mkdirSync(path, { recursive: true });
  const real = realpathSync(path);
  return folderAt(real, real);
}

/** Opens a folder in a folder, and makes it if it is missing. */
export function folderIn(folder: Folder, name: string, mode?: number): Folder {
  return within(folder, (at) => {
    unlessTaken(() => mkdirSync(join(at, name), mode));
    return folderAt(join(at, name), join(folder.path, name));
  });
}

/** A name for a file in an existing folder. */
export interface Place {
  readonly folder: Folder;
  readonly name: string;
}

/** Leaves space for a number in the 143 bytes that eCryptfs takes for a name. */
const STRICT_BYTES = 143 - 8;

/**
 * Returns the names to try if the file system refuses this one. The first is for FAT, exFAT, NTFS and eCryptfs. The last has
 * only ASCII, for APFS, which refuses characters that are newer than itself, and for mounts with an older character set.
 */
export function stricterNames(name: string): string[] {
  const [strict = '_'] = makeStoredNames({ hidden: true })(numberedName(name, 1, STRICT_BYTES));
  const names = new Set([strict, strict.replace(/[^ -~]/gu, '_')]);
  names.delete(name);
  return [...names];
}

/**
 * Opens a folder with this name, or with the next free name if a file or another folder of the transfer has it. Refuses a
 * link, which could lead anywhere.
 */
function folderCalled(folder: Folder, wanted: string, isOurs: (path: string) => boolean): Folder {
  for (const name of numbered(wanted)) {
    if (!isOurs(join(folder.path, name))) continue;
    const found = within(folder, (at) => lstatSync(join(at, name), { throwIfNoEntry: false }));
    if (found === undefined || found.isDirectory() || found.isSymbolicLink()) return folderIn(folder, name);
  }
  return folder;
}

/** Does the same, with a stricter name if the file system refuses this one. */
function folderNamed(folder: Folder, wanted: string, isOurs: (path: string) => boolean): Folder {
  const stricter = stricterNames(wanted);
  for (let name = wanted; ; ) {
    try {
      return folderCalled(folder, name, isOurs);
    } catch (error) {
      const next = isRefusedName(error) ? stricter.shift() : undefined;
      if (next === undefined) throw error;
      name = next;
    }
  }
}

/**
 * Returns a function that makes the folders of a name, each once, and returns the place of the file. `hidden`: a name may
 * begin with a dot at the top.
 */
export function makePlaces(top: Folder, { hidden = false } = {}): (name: string) => Place {
  const known = new Map<string, Folder>([['', top]]);
  /** The folders that were made, by path. Two folders of a transfer never become one. */
  const keyOf = new Map<string, string>();
  const partsOf = makeStoredNames({ hidden, isPosix: sep === '/' });

  function folderOf(parts: readonly string[]): Folder {
    const key = parts.join('/');
    const before = known.get(key);
    if (before !== undefined) return before;
    const isOurs = (path: string): boolean => (keyOf.get(foldedName(path)) ?? key) === key;
    const made = folderNamed(folderOf(parts.slice(0, -1)), parts.at(-1) as string, isOurs);
    keyOf.set(foldedName(made.path), key);
    known.set(key, made);
    return made;
  }

  return (name) => {
    const parts = partsOf(name);
    const last = parts.pop() as string;
    return { folder: folderOf(parts), name: last };
  };
}

/** Yields `name`, `name (2)`, and so on. */
export function* numbered(name: string): Generator<string, never> {
  for (let number = 1; ; number += 1) yield numberedName(name, number);
}
