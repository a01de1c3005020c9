import { closeSync, linkSync, lstatSync, openSync, renameSync, unlinkSync } from 'node:fs';
import { idOf, idOfHandle, OPEN } from './disk.ts';
import { codeOf, unlessGone, unlessTaken } from './file-errors.ts';

/**
 * Gives complete files their names. A hard link does this in one step that fails if the name is taken. Some file systems
 * have no links. On others, such as sshfs, the two names of one file have different ids, so nobody could tell whether
 * another program has put its file there meanwhile. Both kinds get an empty file first, which is then replaced.
 */
export interface Naming {
  /** Whether a link has the id of its file. */
  readonly links: boolean;
  /** Whether a file that is renamed keeps its id. */
  readonly keepsIds: boolean;
}

/** The errors of file systems without hard links. Some have them only inside one folder (`EXDEV`). */
const NO_LINKS: readonly unknown[] = ['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK', 'EXDEV'];

/** Returns the id of what has this name; null if nothing has it. */
export const idAt = (path: string): string | null => {
  const found = lstatSync(path, { bigint: true, throwIfNoEntry: false });
  return found === undefined ? null : idOf(found);
};

/** Makes a link; null if its name is taken, false if the file system has none. */
function link(from: string, to: string): boolean | null {
  try {
    return unlessTaken(() => linkSync(from, to) ?? true);
  } catch (error) {
    if (NO_LINKS.includes(codeOf(error))) return false;
    throw error;
  }
}

/** Learns it from an empty file, which is removed again. `path`: its name, in a folder that only this user writes to. */
export function learnNaming(path: string): Naming {
  const other = `${path}-2`;
  // A process that died may have left them.
  const clear = () => {
    for (const each of [path, other]) unlessGone(() => unlinkSync(each));
  };
  clear();
  closeSync(openSync(path, OPEN.new, 0o600));
  try {
    const id = idAt(path);
    if (link(path, other) && idAt(other) === id) return { links: true, keepsIds: true };
    unlessGone(() => unlinkSync(other));
    renameSync(path, other);
    return { links: false, keepsIds: idAt(other) === id };
  } finally {
    clear();
  }
}

/**
 * Gives a part file a name without a link. False: the name is taken. A process that dies between the two steps leaves the
 * empty file, and its record says that it took this name.
 */
function replaceEmpty(part: string, path: string): boolean {
  const fd = unlessTaken(() => openSync(path, OPEN.new, 0o666));
  if (fd === null) return false;
  const id = idOfHandle(fd);
  closeSync(fd);
  // Another program may have replaced the empty file.
  if (idAt(path) !== id) return false;
  try {
    renameSync(part, path);
  } catch (error) {
    if (idAt(path) === id) unlinkSync(path);
    throw error;
  }
  return true;
}

/** Gives a part file another name, and takes its own away. Returns its id under the name; null if the name is taken. */
export function giveName(part: string, path: string, { links, keepsIds }: Naming): string | null {
  const id = idAt(part);
  const isLinked = links && link(part, path);
  if (isLinked === null) return null;
  if (isLinked) unlinkSync(part);
  else if (!replaceEmpty(part, path)) return null;
  const given = idAt(path);
  if (given === null || (keepsIds && given !== id)) throw new Error(`${path} was replaced`);
  return given;
}
