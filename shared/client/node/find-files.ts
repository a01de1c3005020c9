import { Buffer, isUtf8 } from 'node:buffer';
import { accessSync, constants, type Dirent, lstatSync, statSync, type Stats } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { basename, dirname, resolve, sep } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';

/** A path as the system has it; bytes if it is not UTF-8. */
export type DiskPath = string | Buffer;

/** A file as it was found. */
export interface SeenFile {
  readonly path: DiskPath;
  /** The parts of its path, from the file or folder that is sent down to its own name. */
  readonly parts: readonly string[];
  readonly size: number;
  readonly mtimeSeconds: number;
}

/** An entry of a folder that is not sent. Its path begins with the folder that is sent. */
export interface SkippedFile {
  readonly path: string;
  readonly why: 'link' | 'pipe' | 'socket' | 'device' | 'unreadable' | 'empty_folder';
}

export interface Found {
  readonly files: SeenFile[];
  readonly skipped: SkippedFile[];
}

type Kinds = Pick<Stats | Dirent<Buffer>, 'isSymbolicLink' | 'isFIFO' | 'isSocket' | 'isFile' | 'isDirectory'>;

function whyNot(entry: Kinds): SkippedFile['why'] {
  if (entry.isSymbolicLink()) return 'link';
  if (entry.isFIFO()) return 'pipe';
  return entry.isSocket() ? 'socket' : 'device';
}

/**
 * Turns a name into text, with a lone surrogate for each byte that is not UTF-8, so that names that differ in such bytes
 * stay different.
 */
function textOf(name: Buffer): string {
  if (isUtf8(name)) return name.toString();
  let text = '';
  for (let at = 0, length = 1; at < name.length; at += length) {
    length = [4, 3, 2, 1].find((bytes) => at + bytes <= name.length && isUtf8(name.subarray(at, at + bytes))) ?? 0;
    if (length > 0) text += name.toString('utf8', at, at + length);
    else text += String.fromCharCode(0xdc00 + (name[at] as number));
    length = Math.max(1, length);
  }
  return text;
}

/** Joins a folder and a name, as text if both are text, so that messages can show the path. */
function joined(folder: DiskPath, name: Buffer): DiskPath {
  if (typeof folder === 'string' && isUtf8(name))
    return `${folder}${folder.endsWith(sep) ? '' : sep}${name.toString()}`;
  return Buffer.concat([Buffer.from(folder), Buffer.from(sep), name]);
}

const nameOf = (path: DiskPath): string =>
  typeof path === 'string' ? basename(path) : textOf(path.subarray(path.lastIndexOf(sep) + 1));

const fileOf = (path: DiskPath, { size, mtimeMs }: Stats): SeenFile => ({
  ...{ path, parts: [nameOf(path) || 'root'], size, mtimeSeconds: Math.floor(mtimeMs / 1_000) },
});

/**
 * The number of files per turn. A synchronous look takes a fifth of the time of the thread pool, and other work gets its
 * turn in between.
 */
const FILES_A_TURN = 64;

function seen(path: DiskPath, parts: readonly string[], into: Found, skip: (why: SkippedFile['why']) => void): void {
  try {
    const about = lstatSync(path);
    if (!about.isFile()) return skip(whyNot(about));
    accessSync(path, constants.R_OK);
    into.files.push({ ...fileOf(path, about), parts });
  } catch {
    skip('unreadable');
  }
}

/**
 * Tells whether a file or folder is left out, by its path below the sent folder and the path of that folder as it was given.
 * A folder is left out with its content.
 */
export type IsExcluded = (path: string, root: string) => boolean;

async function walk(
  folder: DiskPath,
  parts: readonly string[],
  into: Found,
  isExcluded: (path: string) => boolean,
): Promise<void> {
  const entries = await readdir(folder, { withFileTypes: true, encoding: 'buffer' });
  const sorted = entries.map((entry) => ({ entry, name: textOf(entry.name) }));
  sorted.sort((a, b) => (a.name < b.name ? -1 : 1));
  if (sorted.length === 0) into.skipped.push({ path: parts.join('/'), why: 'empty_folder' });
  for (const [index, { entry, name }] of sorted.entries()) {
    if (index % FILES_A_TURN === FILES_A_TURN - 1) await nextTurn();
    const path = joined(folder, entry.name);
    const inner = [...parts, name];
    if (isExcluded(inner.slice(1).join('/'))) continue;
    const skip = (why: SkippedFile['why']) => void into.skipped.push({ path: inner.join('/'), why });
    if (entry.isDirectory()) await walk(path, inner, into, isExcluded).catch(() => skip('unreadable'));
    else if (entry.isFile()) seen(path, inner, into, skip);
    else skip(whyNot(entry));
  }
}

/**
 * Returns the path that the system has for this text. The text may have replacement characters for bytes that are not UTF-8,
 * as Node writes the arguments of a program.
 */
async function diskPathOf(path: string): Promise<DiskPath> {
  const full = resolve(path);
  if (!full.includes('\ufffd') || statSync(full, { throwIfNoEntry: false }) !== undefined) return full;
  const folder = await diskPathOf(dirname(full));
  const entries = await readdir(folder, { encoding: 'buffer' });
  const same = entries.filter((name) => name.toString() === basename(full));
  return same[0] === undefined || same.length > 1 ? full : joined(folder, same[0]);
}

/** Finds a file, even through a link. Throws if it is not a file. */
export async function findFile(path: string): Promise<SeenFile> {
  const at = await diskPathOf(path);
  const about = statSync(at);
  if (!about.isFile()) throw new Error(`${path} is a ${about.isDirectory() ? 'folder' : whyNot(about)}, and no file`);
  return fileOf(at, about);
}

/** Finds a file, or every file under a folder that is not excluded. Throws if the path is neither, or unreadable. */
export async function findFiles(path: string, isExcluded: IsExcluded = () => false): Promise<Found> {
  const at = await diskPathOf(path);
  if (!statSync(at).isDirectory()) return { files: [await findFile(path)], skipped: [] };
  const found: Found = { files: [], skipped: [] };
  await walk(at, [nameOf(at) || 'root'], found, (inner) => isExcluded(inner, path));
  return found;
}
