import { Buffer } from 'node:buffer';
import { closeSync, existsSync, fstatSync, lstatSync, mkdirSync, openSync, realpathSync } from 'node:fs';
import { join, sep } from 'node:path';
import { idOf, idOfHandle, OPEN } from './disk.ts';
import { unlessTaken } from './file-errors.ts';

/**
 * Where files go: inside of a folder, whatever their names are, and whatever others do in that folder meanwhile.
 *
 * Folders are made one by one, and what is a link among them is refused. Somebody may put a link in the place of a folder
 * later, so a folder is known by its device and inode: before anything is done in it, it is opened, and has to be that folder.
 * On Linux everything then goes by way of the handle (`/proc/self/fd`), so that no name is looked up again. Elsewhere the
 * name is used right after it was compared.
 */

/** Room for `.part` with a digest, and for a number, in what common file systems take for a name. */
const NAME_BYTES = 255 - 40;
/** Names under which Windows has devices, with whatever ending. */
const DEVICES = /^(?:con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])(?:\.|$)/i;
/** Control characters, and those that turn the direction of what is shown. */
const HIDDEN = /[\x00-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

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

/** Where part files lie, until they have their names (`parts.ts`). */
export const PARTS_NAME = '.baton-parts';

/** What is not shown is not compared, since some file systems leave it out; nor are letters, since many know no case. */
const isPartsName = (part: string): boolean =>
  part
    .normalize('NFKC')
    .replace(/\p{Default_Ignorable_Code_Point}/gu, '')
    .toLowerCase() === PARTS_NAME;

/** The folders of a name, and its last part: none of them is a name that is this program's own. */
function partsOf(name: string): string[] {
  return name
    .split('/')
    .map(safePart)
    .map((part) => (isPartsName(part) ? `_${part}` : part));
}

/** A folder that was looked at: it stays that one, whatever its path leads to later. */
export interface Folder {
  readonly path: string;
  readonly id: string;
  /** Names can be given within one file system alone. */
  readonly device: bigint;
}

const HAS_HANDLES = existsSync('/proc/self/fd');

const outside = (path: string): Error => new Error(`${path} would not be inside of the folder`);

/** Runs `work` with a path that leads to this very folder. Throws where another one has its place. */
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

/** The folder that was asked for: it may be a link itself. */
export function topFolder(path: string): Folder {
  mkdirSync(path, { recursive: true });
  const real = realpathSync(path);
  return folderAt(real, real);
}

/** A folder in a folder, made where it is missing. */
export function folderIn(folder: Folder, name: string, mode?: number): Folder {
  return within(folder, (at) => {
    unlessTaken(() => mkdirSync(join(at, name), mode));
    return folderAt(join(at, name), join(folder.path, name));
  });
}

/** A name that a file may have, in a folder that is there. */
export interface Place {
  readonly folder: Folder;
  readonly name: string;
}

/** Gives what makes the folders of a name and says its place; the folders of a name are made once. */
export function makePlaces(top: Folder): (name: string) => Place {
  const known = new Map<string, Folder>([['', top]]);

  function folderOf(parts: readonly string[]): Folder {
    const key = parts.join('/');
    const before = known.get(key);
    if (before !== undefined) return before;
    const made = folderIn(folderOf(parts.slice(0, -1)), parts.at(-1) as string);
    known.set(key, made);
    return made;
  }

  return (name) => {
    const parts = partsOf(name);
    const last = parts.pop() as string;
    return { folder: folderOf(parts), name: last };
  };
}

/** `name`, `name (2)`, and so on. */
export function* numbered(name: string): Generator<string, never> {
  yield name;
  const dot = name.lastIndexOf('.');
  const [stem, ending] = dot > 0 ? [name.slice(0, dot), name.slice(dot)] : [name, ''];
  for (let number = 2; ; number += 1) yield `${stem} (${number})${ending}`;
}
