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
import { codeOf, unlessGone, unlessTaken } from './file-errors.ts';
import { PARTS_NAME } from '../files/names.ts';
import { type Folder, folderIn, type Place, within } from './places.ts';
import { OLD_MS } from './record.ts';

/**
 * Part files: what is not whole yet. They lie in a folder `.baton-parts` inside of the folder that files go to, so that a
 * whole one gets its name in one step. Others may write to the folder around it, so it is for its owner alone (0700), and of
 * each file that is gone on with it is asked whether it is a plain file of this user, with one name, under the path that it
 * should have. One that is not is left to whoever made it: its name is taken away, and the file is begun anew.
 *
 * Which process writes a part file is decided by the claim of its transfer. Parts that nobody has written for longer than the
 * service keeps a transfer are removed by the next process that receives into this folder.
 */
export interface Parts {
  /** A handle to read and write by. `size`: what is in it, 0 unless `resumes`. */
  open(key: string, resumes: boolean): { fd: number; size: number };
  /**
   * Gives a part file a name that nothing has, and takes its own away; null where something has that name. Throws where what
   * has the name then is another file than the one of this id.
   */
  name(key: string, id: string, place: Place): true | null;
  /** A claim beside the part files, for those that belong to no transfer. */
  claim(id: string): Claim | null;
  /** Gives it a name in the folder around the part files, over whatever has it. */
  replace(key: string, name: string): void;
  /** Removes part files by what their names begin with. */
  drop(prefix: string): void;
  /** The folder is removed when it is empty. */
  leave(): void;
}

/** On Windows files have no such owners. */
const isOwnId = (uid: number): boolean => thisProcess.getuid === undefined || uid === thisProcess.getuid();

/** As other programs of this user left it, or as somebody else made it, who had that name before. */
function checkOwner(folder: Folder): void {
  const found = lstatSync(folder.path);
  if (!isOwnId(found.uid)) throw new Error(`${folder.path} belongs to another user: remove it`);
  if ((found.mode & 0o077) === 0) return;
  try {
    within(folder, (at) => chmodSync(at, 0o700));
  } catch (error) {
    // A file system without modes has no links and no other owners either.
    if (codeOf(error) !== 'EPERM' && codeOf(error) !== 'ENOTSUP') throw error;
  }
}

function openFolder(top: Folder): Folder {
  const parts = folderIn(top, PARTS_NAME, 0o700);
  checkOwner(parts);
  return parts;
}

/** The path that the handle has now. */
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

/** Null where there is none that may be gone on with. */
function openOld(at: string, path: string): number | null {
  let fd: number;
  try {
    fd = openSync(at, OPEN.old);
  } catch (error) {
    const code = codeOf(error);
    // Nothing, a link, a pipe or a folder.
    if (['ENOENT', 'ELOOP', 'ENXIO', 'EISDIR', 'EMLINK', 'EACCES'].includes(String(code))) return null;
    throw error;
  }
  if (isOwn(fd, path)) return fd;
  closeSync(fd);
  return null;
}

/** File systems that know one name of a file say one of these. */
const NO_LINKS = ['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK'];

/**
 * Without second names of files an empty file takes the name, and is replaced. A process that dies between the two leaves it
 * empty: its own record says that this was its name.
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

/** The part files of a folder, which is made with the first of them. */
export function partsIn(top: Folder): Parts {
  let known: Folder | null = null;

  /** Another process that left it may have removed it this very moment. */
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
        // Somebody else has parts in it. What is in the way otherwise is said where a part is opened.
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

/** Takes the name of a file away again, if it is still that file. */
export function takeName({ folder, name }: Place, id: string): void {
  within(folder, (at) => {
    if (lstatId(join(at, name)) === id) unlinkSync(join(at, name));
  });
}

/** The names in a folder are stored safely. Not every system can. */
export function syncNames(folder: Folder): void {
  within(folder, (_, fd) => {
    try {
      fdatasyncSync(fd);
    } catch (error) {
      if (!['EINVAL', 'EPERM', 'EBADF', 'EACCES', 'ENOTSUP'].includes(String(codeOf(error)))) throw error;
    }
  });
}
