import { randomUUID } from 'node:crypto';
import {
  chmodSync,
  closeSync,
  existsSync,
  fdatasyncSync,
  fstatSync,
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
import { codeOf, isUnsynced, unlessGone } from './file-errors.ts';
import { giveName, idAt, learnNaming, type Naming } from './naming.ts';
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
   * Gives a part file a free name, and takes its own away. Returns its id under that name; null if the name is taken.
   * Throws if another file has replaced the one with this id.
   */
  name(key: string, id: string, place: Place): string | null;
  /** Makes a claim beside the part files, for parts that belong to no transfer. */
  claim(id: string): Claim | null;
  /** Gives the part file a name in the folder around the part files, and replaces what has that name. */
  replace(key: string, name: string): void;
  /** Removes part files by the beginning of their names. */
  drop(prefix: string): void;
  /** Removes the folder when it is empty. */
  leave(): void;
}

/** The folder of the part files. Entries of this owner belong to this user there. */
interface OwnFolder extends Folder {
  readonly uid: number;
}

/** Returns the owner of a file that this process makes in the folder; null if it can make none. */
function ownerOfNew(folder: Folder): number | null {
  try {
    return within(folder, (at) => {
      const path = join(at, `${randomUUID()}.owner`);
      closeSync(openSync(path, OPEN.new, 0o600));
      const { uid } = lstatSync(path);
      unlinkSync(path);
      return uid;
    });
  } catch {
    return null;
  }
}

/**
 * Tells whether this user owns an entry of the folder. On Windows files have no such owners. A mount may give all files
 * another owner than the user who makes them (sshfs, NFS, CIFS and FAT have options for this). It shows that by a new file.
 * A folder that another user has made on an ordinary file system has another owner than that file.
 */
function isOwnId(uid: number, folder: Folder, top: Folder): boolean {
  if (thisProcess.getuid === undefined || uid === thisProcess.getuid()) return true;
  // Another user may have mounted a file system there that gives false owners.
  return folder.device === top.device && uid === ownerOfNew(folder);
}

/** Checks the owner and the rights of a folder, which another program of this user or another user may have made. */
function owned(folder: Folder, top: Folder): OwnFolder {
  const { uid, mode } = lstatSync(folder.path);
  if (!isOwnId(uid, folder, top)) throw new Error(`${folder.path} belongs to another user: remove it`);
  if ((mode & 0o077) !== 0) closeToOthers(folder);
  return { ...folder, uid };
}

function closeToOthers(folder: Folder): void {
  try {
    within(folder, (at) => chmodSync(at, 0o700));
  } catch (error) {
    // A file system without modes has neither links nor other owners.
    if (codeOf(error) !== 'EPERM' && codeOf(error) !== 'ENOTSUP') throw error;
  }
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

function isOwn(fd: number, path: string, { uid }: OwnFolder): boolean {
  const found = fstatSync(fd);
  return found.isFile() && found.nlink === 1 && found.uid === uid && isAt(fd, path);
}

/** Opens an existing part file; null if there is none that may be resumed. */
function openOld(at: string, key: string, folder: OwnFolder): number | null {
  const path = join(folder.path, key);
  let fd: number;
  try {
    fd = openSync(join(at, key), OPEN.old);
  } catch (error) {
    const code = codeOf(error);
    // The path is free, a link, a pipe or a folder.
    if (['ENOENT', 'ELOOP', 'ENXIO', 'EISDIR', 'EMLINK', 'EACCES'].includes(String(code))) return null;
    throw error;
  }
  if (isOwn(fd, path, folder)) return fd;
  closeSync(fd);
  return null;
}

/** Returns the part files of a folder. The first part file makes that folder. */
export function partsIn(top: Folder): Parts {
  let known: OwnFolder | null = null;
  let naming: Naming | null = null;

  /** Runs `work` in the folder, and makes it again if another process that leaves it has just removed it. */
  function inParts<T>(work: (at: string, folder: OwnFolder) => T): T {
    for (let tries = 0; ; tries += 1) {
      try {
        if (known === null) removeOld((known = owned(folderIn(top, PARTS_NAME, 0o700), top)));
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
        const old = resumes ? openOld(at, key, folder) : null;
        if (old !== null) return { fd: old, size: fstatSync(old).size };
        unlessGone(() => unlinkSync(join(at, key)));
        return { fd: openSync(join(at, key), OPEN.new, 0o666), size: 0 };
      }),
    name: (key, id, { folder, name }) =>
      inParts((from) =>
        within(folder, (at) => {
          if (idAt(join(from, key)) !== id) throw new Error(`the part file of ${name} was replaced`);
          naming ??= learnNaming(join(from, `${key}.name`));
          return giveName(join(from, key), join(at, name), naming);
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
    if (idAt(join(at, name)) === id) unlinkSync(join(at, name));
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
