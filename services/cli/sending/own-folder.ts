import { realpath } from 'node:fs/promises';
import nodePath, { basename, type PlatformPath, sep } from 'node:path';
import { usageError } from '../failure.ts';
import { oneLine } from '../output.ts';
import { configFolder } from '../settings.ts';

/*
 * The configuration folder has the session and the keys of this device, and whoever has them can act as it. A send of the
 * home folder would hand them over unasked.
 */

/** The configuration folder below a folder that is sent. */
interface OwnFolder {
  /** That folder, as it was given. */
  readonly root: string;
  /** Its path below that folder. */
  readonly below: string;
  /** The same path with the name of that folder, as the user reads it. */
  readonly path: string;
}

/** Returns the path of a folder below another one, with slashes; null if it is not below. */
export function pathBelow(at: string, folder: string, { relative, isAbsolute, sep: by }: PlatformPath): string | null {
  const below = relative(at, folder);
  // There is no relative path to another drive of Windows.
  if (isAbsolute(below)) return null;
  const parts = below.split(by);
  return parts[0] === '..' ? null : parts.join('/');
}

/** Finds the configuration folder below these paths. Throws if a path leads into it. */
export async function ownFoldersIn(paths: readonly string[]): Promise<OwnFolder[]> {
  const own = await realpath(configFolder()).catch(() => null);
  if (own === null) return [];
  const found: OwnFolder[] = [];
  for (const path of paths) {
    // A path that does not exist is reported elsewhere.
    const at = await realpath(path).catch(() => null);
    if (at === null) continue;
    if (at === own || at.startsWith(own + sep)) {
      throw usageError(`${oneLine(path)} has the session and the keys of this device, and is not sent.`);
    }
    const below = pathBelow(at, own, nodePath);
    if (below !== null) found.push({ root: path, below, path: `${basename(at)}/${below}` });
  }
  return found;
}
