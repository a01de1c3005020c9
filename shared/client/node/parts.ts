import {
  chmodSync,
  closeSync,
  existsSync,
  fdatasyncSync,
  fstatSync,
  linkSync,
  lstatSync,
  openSync,
  readdirSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmdirSync,
  statSync,
  unlinkSync,
} from 'node:fs';
import { platform } from 'node:os';
import { join } from 'node:path';
import thisProcess from 'node:process';
import { type Claim, makeClaim } from './claim.ts';
import { idOf, idOfHandle, OPEN } from './disk.ts';
import { codeOf, isUnsynced, unlessGone, unlessTaken } from './file-errors.ts';
import { PARTS_NAME } from '../files/names.ts';
import { type Folder, folderIn, type Place, within } from './places.ts';
import { OLD_MS } from './record.ts';

/**
 * Part files hold incomplete files. They lie in a folder `.baton-parts` inside the folder that files go to, so that a
 * complete file gets its name in one step. Others may write to the folder around it, so only its owner has access (0700).
 * Before a part file is resumed, it must be a plain file of this user, with one name, under the expected path. Any other
 * file is left to its maker: its name is removed, and the file is begun again.
 *
 * The claim of its transfer decides which process writes a part file. The next process that receives into this folder
 * removes parts that nobody has written for longer than the service keeps a transfer.
 */
export interface Parts {
  /** Opens a handle for reading and writing. `size`: the bytes that are in it, 0 unless `resumes`. */
  open(key: string, resumes: boolean): { fd: number; size: number };
  /**
   * Gives a part file a free name, and takes its own away; null if the name is taken. Throws if the file that then has
   * the name is not the one with this id.
   */
  name(key: string, id: string, place: Place): true | null;
  /** Makes a claim beside the part files, for parts that belong to no transfer. */
  claim(id: string): Claim | null;
  /** Gives the part file a name in the folder around the part files, and replaces what has that name. */
  replace(key: string, name: string): void;
  /** Removes part files by the beginning of their names. */
  drop(prefix: string): void;
  /** Removes the folder when it is empty. */
  leave(): void;
}

/** Tells whether a file belongs to this user. On Windows files have no such owners. */
const isOwnId = (uid: number): boolean => thisProcess.getuid === undefined || uid === thisProcess.getuid();

/** Checks the owner and the rights of a folder, which another program of this user or another user may have made. */
function checkOwner(folder: Folder): void {
  const found = lstatSync(folder.path);
  if (!isOwnId(found.uid)) throw new Error(`${folder.path} belongs to another user: remove it`);
  if ((found.mode & 0o077) === 0) return;
  try {
    within(folder, (at) => chmodSync(at, 0o700));
  } catch (error) {
    // A file system without modes has neither links nor other owners.
    if (codeOf(error) !== 'EPERM' && codeOf(error) !== 'ENOTSUP') throw error;
  }
}

function openFolder(top: Folder): Folder {
  const parts = folderIn(top, PARTS_NAME, 0o700);
  checkOwner(parts);
  return parts;
}

/** Tells whether the file of the handle is at this path now. */
function isAt(fd: number, path: string): boolean {
  if (platform() === 'linux') {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`) === path;
    } catch {
      // There is no /proc.
    }
  }
  return realpathSync(path) === path && idOf(statSync(path, { bigint: true })) === idOfHandle(fd);
}

function isOwn(fd: number, path: string): boolean {
  const found = fstatSync(fd);
  return found.isFile() && found.nlink === 1 && isOwnId(found.uid) && isAt(fd, path);
}

/** Opens an existing part file; null if there is none that may be resumed. */
function openOld(at: string, path: string): number | null {
  let fd: number;
  try {
    fd = openSync(at, OPEN.old);
  } catch (error) {
    const code = codeOf(error);
    // The path is free, a link, a pipe or a folder.
    if (['ENOENT', 'ELOOP', 'ENXIO', 'EISDIR', 'EMLINK', 'EACCES'].includes(String(code))) return null;
    throw error;
  }
  if (isOwn(fd, path)) return fd;
  closeSync(fd);
  return null;
}

/** The errors of file systems without hard links. */
const NO_LINKS = ['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK'];

/**
 * Gives a part file a name without hard links: an empty file takes the name, and is then replaced. A process that dies
 * between the two steps leaves the empty file, and its record says that it took this name.
 */
function replaceEmpty(part: string, path: string): true | null {
  const fd = unlessTaken(() => openSync(path, OPEN.new, 0o666));
  if (fd === null) return null;
  closeSync(fd);
  renameSync(part, path);
  return true;
}

function giveName(part: string, path: string): true | null {
  try {
    if (unlessTaken(() => linkSync(part, path) ?? true) === null) return null;
  } catch (error) {
    if (!NO_LINKS.includes(String(codeOf(error)))) throw error;
    return replaceEmpty(part, path);
  }
  unlinkSync(part);
  return true;
}

/** Returns the part files of a folder. The first part file makes that folder. */
export function partsIn(top: Folder): Parts {
  let known: Folder | null = null;

  /** Runs `work` in the folder, and makes it again if another process that leaves it has just removed it. */
  function inParts<T>(work: (at: string, folder: Folder) => T): T {
    for (let tries = 0; ; tries += 1) {
      try {
        if (known === null) removeOld((known = openFolder(top)));
        const folder = known;
        return within(folder, (at) => work(at, folder));
      } catch (error) {
        known = null;
        if (codeOf(error) !== 'ENOENT' || tries === 10) throw error;
      }
    }
  }

  return {
    open: (key, resumes) =>
      inParts((at, folder) => {
        const old = resumes ? openOld(join(at, key), join(folder.path, key)) : null;
        if (old !== null) return { fd: old, size: fstatSync(old).size };
        unlessGone(() => unlinkSync(join(at, key)));
        return { fd: openSync(join(at, key), OPEN.new, 0o666), size: 0 };
      }),
    name: (key, id, { folder, name }) =>
      inParts((from) =>
        within(folder, (at) => {
          if (lstatId(join(from, key)) !== id) throw new Error(`the part file of ${name} was replaced`);
          const isNamed = giveName(join(from, key), join(at, name));
          if (isNamed && lstatId(join(at, name)) !== id) throw new Error(`${name} was replaced`);
          return isNamed;
        }),
      ),
    claim: (id) => inParts((_, folder) => makeClaim(folder.path, id)),
    replace(key, name) {
      inParts((from) => within(top, (at) => renameSync(join(from, key), join(at, name))));
      syncNames(top);
    },
    drop(prefix) {
      if (known === null && !within(top, (at) => existsSync(join(at, PARTS_NAME)))) return;
      inParts((at) => {
        for (const name of readdirSync(at)) if (name.startsWith(prefix)) unlessGone(() => unlinkSync(join(at, name)));
      });
    },
    leave() {
      if (known === null) return;
      known = null;
      try {
        within(top, (at) => rmdirSync(join(at, PARTS_NAME)));
      } catch {
        // Another process has parts in it. Any other obstacle is reported when a part is opened.
      }
    },
  };
}

const lstatId = (path: string): string | null => {
  const found = lstatSync(path, { bigint: true, throwIfNoEntry: false });
  return found === undefined ? null : idOf(found);
};

function removeOld(folder: Folder): void {
  within(folder, (at) => {
    for (const name of readdirSync(at)) {
      const found = lstatSync(join(at, name), { throwIfNoEntry: false });
      const isOld = found !== undefined && !found.isDirectory() && Date.now() - found.mtimeMs > OLD_MS;
      if (isOld) unlessGone(() => unlinkSync(join(at, name)));
    }
  });
}

/** Removes the name of a file, if the name still leads to that file. */
export function takeName({ folder, name }: Place, id: string): void {
  within(folder, (at) => {
    if (lstatId(join(at, name)) === id) unlinkSync(join(at, name));
  });
}

/** Stores the names in a folder safely, if the system can. */
export function syncNames(folder: Folder): void {
  within(folder, (_, fd) => {
    try {
      fdatasyncSync(fd);
    } catch (error) {
      if (!isUnsynced(error)) throw error;
    }
  });
}
