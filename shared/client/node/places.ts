import { closeSync, linkSync, lstatSync, mkdirSync, openSync, renameSync, unlinkSync } from 'node:fs';
import { basename, dirname, join, sep } from 'node:path';
import { makeStoredNames, numberedName, type StoringRules } from '../files/names.ts';

export const codeOf = (error: unknown): unknown => (error as { code?: unknown }).code;

const rulesOf = (hidden: boolean): StoringRules => ({ hidden, isPosix: sep === '/' });

/** Beside the files of a folder, for what passes: never outside of it, whatever the name is. */
export const placeOf = (folder: string, name: string): string =>
  join(folder, makeStoredNames(rulesOf(false))(name).join('_'));

/**
 * Gives what says the place of a file, after it has made the folders one by one: a link among them could lead anywhere. A
 * folder whose name a file has gets a number. `hidden`: a name may begin with a dot at the top.
 */
export function makePlaces(top: string, { hidden = false } = {}): (name: string) => string {
  const known = new Map<string, string>();
  const partsOf = makeStoredNames(rulesOf(hidden));

  function folderOf(parts: readonly string[], name: string): string {
    const key = parts.join('/');
    const before = known.get(key);
    if (before !== undefined) return before;
    const last = parts.at(-1);
    if (last === undefined) mkdirSync(top, { recursive: true });
    const at = last === undefined ? top : makeFolder(join(folderOf(parts.slice(0, -1), name), last), name);
    known.set(key, at);
    return at;
  }

  return (name) => {
    const parts = partsOf(name);
    const last = parts.pop() as string;
    return join(folderOf(parts, name), last);
  };
}

function makeFolder(path: string, name: string): string {
  for (const at of numbered(path)) {
    unlessTaken(() => mkdirSync(at));
    const found = lstatSync(at);
    if (found.isDirectory()) return at;
    if (found.isSymbolicLink()) throw new Error(`${name} would not be inside of the folder`);
  }
  return path;
}

/** Gives it another name, and takes the first away. True; throws where something has that name. */
export function linkTo(part: string, path: string): true {
  try {
    linkSync(part, path);
  } catch (error) {
    if (codeOf(error) === 'EEXIST') throw error;
    // Some file systems know no second name of a file: there an empty file takes the name, and is replaced.
    closeSync(openSync(path, 'wx'));
    renameSync(part, path);
    return true;
  }
  unlinkSync(part);
  return true;
}

/** `path`, `path (2)`, and so on. */
export function* numbered(path: string): Generator<string, never> {
  for (let number = 1; ; number += 1) yield join(dirname(path), numberedName(basename(path), number));
}

/** Undefined where something has that name; a link too, wherever it leads. */
export function unlessTaken<T>(take: () => T): T | undefined {
  try {
    return take();
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return undefined;
    throw error;
  }
}

/** Gives what is stored under `part` the first name that nothing has, in one step: a name is never without its bytes. */
export function giveName(part: string, path: string): string {
  for (const name of numbered(path)) {
    if (unlessTaken(() => linkTo(part, name))) return name;
  }
  return path;
}
