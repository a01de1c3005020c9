import { Buffer } from 'node:buffer';
import { closeSync, linkSync, lstatSync, mkdirSync, openSync, renameSync, unlinkSync } from 'node:fs';
import { join, sep } from 'node:path';

/** Room for `.part` with a digest, and for a number, in what common file systems take for a name. */
const NAME_BYTES = 255 - 40;
/** Names under which Windows has devices, with whatever ending. */
const DEVICES = /^(?:con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])(?:\.|$)/i;
/** Control characters, and those that turn the direction of what is shown. */
const HIDDEN = /[\x00-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

export const codeOf = (error: unknown): unknown => (error as { code?: unknown }).code;

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

/** A path inside of a folder, whatever the name is. */
export const placeOf = (folder: string, name: string): string => join(folder, ...name.split('/').map(safePart));

/**
 * Makes the folders of files one by one: a link among them could lead anywhere. Gives what makes those of a name and says its
 * place; the folders of a name are looked at once.
 */
export function makePlaces(top: string): (name: string) => string {
  const known = new Map<string, string>();

  function folderOf(parts: readonly string[], name: string): string {
    const key = parts.join('/');
    const before = known.get(key);
    if (before !== undefined) return before;
    const last = parts.at(-1);
    const at = last === undefined ? top : join(folderOf(parts.slice(0, -1), name), safePart(last));
    if (last === undefined) mkdirSync(at, { recursive: true });
    else {
      unlessTaken(() => mkdirSync(at));
      if (!lstatSync(at).isDirectory()) throw new Error(`${name} would not be inside of the folder`);
    }
    known.set(key, at);
    return at;
  }

  return (name) => {
    const parts = name.split('/');
    const last = parts.pop() as string;
    return join(folderOf(parts, name), safePart(last));
  };
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
  yield path;
  const dot = path.lastIndexOf('.');
  const [stem, ending] = dot > path.lastIndexOf(sep) + 1 ? [path.slice(0, dot), path.slice(dot)] : [path, ''];
  for (let number = 2; ; number += 1) yield `${stem} (${number})${ending}`;
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
