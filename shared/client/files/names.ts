import { LIMITS } from '../../contract/limits.ts';

/*
 * Names of files, for every client and in both directions. *Offering*: what a file system has becomes what the service takes.
 * *Storing*: what comes from another device becomes what any file system takes. In both directions no two files, and no two
 * folders, of one transfer become one: the second gets a number.
 */

/** Controls, line ends, and what turns the direction of text: nobody sees them in a name. A lone half of a letter is none. */
const UNSEEN = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Bidi_Control}]/gu;
const SEPARATORS = /[/\\]/g;
/** What Windows, FAT and the pickers of browsers refuse beside these. */
const REFUSED = /[<>:"|?*]/g;
/** Names under which Windows has devices, with whatever ending. */
const DEVICES = /^(?:con|prn|aux|nul|conin\$|conout\$|clock\$|com[0-9¹²³]|lpt[0-9¹²³]) *(?:\.|$)/i;
/** What several file systems leave out when they compare names. */
const IGNORED = /\p{Default_Ignorable_Code_Point}/gu;
const LEADING_DOT = /^\p{Default_Ignorable_Code_Point}*\./u;
/** Folders of our own in the folder that files are stored in; the second is the short name that NTFS gives such a one. */
const OURS = /^(?:\.baton-|baton-?~\d)/;
/** Where a folder keeps what is not whole yet, at whatever depth: no name of a file or a folder that was sent. */
export const PARTS_NAME = '.baton-parts';
/** What shows nothing in a list of files, and nothing else. */
const BLANK = /^[\p{Default_Ignorable_Code_Point}\p{Z}\u2800]+$/u;
/** At most 16 characters without a space. `.tar.gz` is one. */
const ENDING = /(?:\.tar)?\.[^.\s]{1,16}$/iu;
/** Place for `.part` with a digest, and for a number, in the 255 bytes that common file systems take for a name. */
const STORED_BYTES = 255 - 40;

const bytesOf = (text: string): number => new TextEncoder().encode(text).length;

/** Firefox has it since 125. */
const segmenter = 'Segmenter' in Intl ? new Intl.Segmenter() : null;
const lettersOf = (text: string): string[] =>
  segmenter === null ? Array.from(text) : Array.from(segmenter.segment(text), ({ segment }) => segment);

function firstOf(letters: readonly string[], bytes: number): string {
  let left = bytes;
  const end = letters.findIndex((letter) => {
    left -= bytesOf(letter);
    return left < 0;
  });
  return letters.slice(0, end === -1 ? letters.length : end).join('');
}

/** The beginning of a text that is too long, cut between letters; inside of one that is too long by itself. */
const cut = (text: string, bytes: number): string =>
  firstOf(lettersOf(text), bytes) || firstOf(Array.from(text), bytes);

/** The name without its ending, and the ending with its dot; a name that begins with its only dot has none. */
function splitEnding(name: string): [stem: string, ending: string] {
  const at = name.search(ENDING);
  return at > 0 ? [name.slice(0, at), name.slice(at)] : [name, ''];
}

/** The name with a number from 2 on, as `photo (2).jpg`; both it and its ending stay where it has to be cut. */
export function numberedName(name: string, number: number, most: number = Number.POSITIVE_INFINITY): string {
  const mark = number === 1 ? '' : ` (${number})`;
  const [stem, ending] = splitEnding(name);
  const left = most - bytesOf(mark + ending);
  return (bytesOf(stem) > left ? cut(stem, left) : stem) + mark + ending;
}

/** The same for two names that some file system takes for one: of other case, composed otherwise, or with unseen characters. */
export const foldedName = (name: string): string =>
  name.replace(IGNORED, '').normalize('NFD').toUpperCase().toLowerCase().normalize('NFC');

/** The names of one folder: `take` gives each away once, and the next one who wants it gets it with a number. */
function makeTaken(sameAs: (name: string) => string, most: number) {
  const taken = new Set<string>();
  const next = new Map<string, number>();
  return {
    take(wanted: string): string {
      const key = sameAs(wanted);
      for (let number = next.get(key) ?? 1; ; number += 1) {
        const name = numberedName(wanted, number, most);
        if (taken.has(sameAs(name))) continue;
        taken.add(sameAs(name));
        next.set(key, number + 1);
        return name;
      }
    },
  };
}
type Taken = ReturnType<typeof makeTaken>;

/** One part of a path as the service takes it. */
function offeredPart(part: string): string {
  const plain = part.replace(UNSEEN, '_').replace(SEPARATORS, '_');
  if (['', '.', '..'].includes(plain)) return plain === '' ? '_' : plain.replaceAll('.', '_');
  return numberedName(plain, 1, LIMITS.fileNamePartBytes);
}

/** A file or a folder that has another name for the receiver. Both paths begin with what is sent. */
export interface RenamedFile {
  readonly path: string;
  readonly name: string;
}

interface Folder {
  readonly files: { readonly part: string; readonly index: number }[];
  readonly folders: Map<string, Folder>;
}

function treeOf(paths: readonly (readonly string[])[]): Folder {
  const newFolder = (): Folder => ({ files: [], folders: new Map() });
  const top = newFolder();
  for (const [index, path] of paths.entries()) {
    let at = top;
    for (const part of path.slice(0, -1)) {
      const inner = at.folders.get(part) ?? newFolder();
      at.folders.set(part, inner);
      at = inner;
    }
    at.files.push({ part: path.at(-1) ?? '', index });
  }
  return top;
}

/** With the name of a file behind it, and a number, a path of so many bytes is as long as one may be. */
const FOLDER_BYTES = LIMITS.fileNameBytes - LIMITS.fileNamePartBytes - 1;

/**
 * What the files of one transfer are offered as: a name for each path, in the same order, and no two alike. `renamed` lists the
 * files and folders whose own name had to change. What lies in folders so deep that the path would be too long is offered in
 * the last one that is not.
 */
export function offeredNames(paths: readonly (readonly string[])[]): { names: string[]; renamed: RenamedFile[] } {
  const names: string[] = [];
  const renamed: RenamedFile[] = [];
  const newTaken = () => makeTaken(String, LIMITS.fileNamePartBytes);

  function nameAll({ files, folders }: Folder, path: string, name: string, taken: Taken): void {
    const entries: { part: string; index?: number; inner?: Folder }[] = [...files];
    for (const [part, inner] of folders) entries.push({ part, inner });
    // Who need not be renamed keeps the name.
    const isOdd = ({ part }: { part: string }): boolean => offeredPart(part) !== part;
    for (const entry of [...entries.filter((one) => !isOdd(one)), ...entries.filter(isOdd)]) {
      const { part, index, inner } = entry;
      const wanted = offeredPart(part);
      const isTooDeep = inner !== undefined && bytesOf(name + wanted) > FOLDER_BYTES;
      const to = isTooDeep ? name.slice(0, -1) : name + taken.take(wanted);
      if (to !== name + part) renamed.push({ path: path + part, name: to });
      if (index !== undefined) names[index] = to;
      else if (inner !== undefined && isTooDeep) nameAll(inner, `${path}${part}/`, name, taken);
      else if (inner !== undefined) nameAll(inner, `${path}${part}/`, `${to}/`, newTaken());
    }
  }

  nameAll(treeOf(paths), '', '', newTaken());
  return { names, renamed };
}

export interface StoringRules {
  /** A name may begin with a dot at the top, where a shell or a program may take it for its configuration. */
  readonly hidden?: boolean;
  /** The characters `<>:"|?*` stay, which the file systems of Linux and macOS take. */
  readonly isPosix?: boolean;
}

/** Also where a file system takes another name for it: what shows nothing may be left out, and letters have no case. */
const isPartsName = (name: string): boolean => name.normalize('NFKC').replace(IGNORED, '').toLowerCase() === PARTS_NAME;

/** One part of a path that the file system takes. */
function storedPart(part: string, isTop: boolean, { hidden = false, isPosix = false }: StoringRules): string {
  let name = part.replace(UNSEEN, '_').replace(SEPARATORS, '_');
  if (!isPosix) name = name.replace(REFUSED, '_');
  const isOurs = isTop && OURS.test(foldedName(name));
  if (isTop && (isOurs || !hidden)) name = name.replace(LEADING_DOT, '_');
  const isReserved = isPartsName(name) || DEVICES.test(name) || BLANK.test(name);
  if (isReserved || (isTop && OURS.test(foldedName(name)))) name = `_${name}`;
  const short = numberedName(name, 1, STORED_BYTES).replace(/[. ]+$/, (end) => '_'.repeat(end.length));
  return short === '' ? '_' : short;
}

interface StoredFolder {
  readonly taken: Taken;
  readonly files: Map<string, string>;
  readonly folders: Map<string, { readonly name: string; readonly inner: StoredFolder }>;
}

const newStoredFolder = (): StoredFolder => ({
  ...{ taken: makeTaken(foldedName, STORED_BYTES), files: new Map(), folders: new Map() },
});

/**
 * Where the files of one transfer are stored: the parts of a relative path for each name. The same name has the same path each
 * time, and no two names have paths that any file system takes for one.
 */
export function makeStoredNames(rules: StoringRules = {}): (name: string) => string[] {
  const top = newStoredFolder();
  return (name) => {
    const parts = name.split('/');
    const last = parts.pop() ?? '';
    const path: string[] = [];
    let at = top;
    for (const part of parts) {
      const known = at.folders.get(part) ?? {
        name: at.taken.take(storedPart(part, at === top, rules)),
        inner: newStoredFolder(),
      };
      at.folders.set(part, known);
      path.push(known.name);
      at = known.inner;
    }
    const file = at.files.get(last) ?? at.taken.take(storedPart(last, at === top, rules));
    at.files.set(last, file);
    return [...path, file];
  };
}

/** The same for all files of a transfer, in their order: a sender may give one name to two of them. */
export function storedPaths(names: readonly string[], rules: StoringRules = {}): string[][] {
  const place = makeStoredNames(rules);
  const given = new Set<string>();
  return names.map((name) => {
    const at = name.lastIndexOf('/') + 1;
    let own = name;
    for (let number = 2; given.has(own); number += 1) own = name.slice(0, at) + numberedName(name.slice(at), number);
    given.add(own);
    return place(own);
  });
}
