import { LIMITS } from '../../contract/limits.ts';

/*
 * Names of files, for every client and in both directions. *Offering*: a name of a file system becomes a name that the
 * service takes. *Storing*: a name from another device becomes a name that any file system takes. In both directions two
 * files, or two folders, of one transfer never become one: the second gets a number.
 */

/** Characters that are invisible in a name: controls, line ends, changes of the text direction, and lone surrogates. */
const UNSEEN = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Bidi_Control}]/gu;
const SEPARATORS = /[/\\]/g;
/** Further characters that Windows, FAT and the pickers of browsers refuse. */
const REFUSED = /[<>:"|?*]/g;
/** Names under which Windows has devices, with any ending. */
const DEVICES = /^(?:con|prn|aux|nul|conin\$|conout\$|clock\$|com[0-9¹²³]|lpt[0-9¹²³]) *(?:\.|$)/i;
/** Characters that several file systems ignore when they compare names. */
const IGNORED = /\p{Default_Ignorable_Code_Point}/gu;
const LEADING_DOT = /^\p{Default_Ignorable_Code_Point}*\./u;
/** Our own folders in the folder that files go to. The second form is the short name that NTFS gives such a folder. */
const OURS = /^(?:\.baton-|baton-?~\d)/;
/** The folder of incomplete files, at any depth. No file or folder that was sent gets this name. */
export const PARTS_NAME = '.baton-parts';
/** A name that shows nothing in a list of files. */
const BLANK = /^[\p{Default_Ignorable_Code_Point}\p{Z}\u2800]+$/u;
/** An ending: at most 16 characters without a space. `.tar.gz` is one ending. */
const ENDING = /(?:\.tar)?\.[^.\s]{1,16}$/iu;
/** Leaves space for `.part` with a digest, and for a number, in the 255 bytes that common file systems take for a name. */
const STORED_BYTES = 255 - 40;

const bytesOf = (text: string): number => new TextEncoder().encode(text).length;

/** Null in Firefox before 125. */
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

/** Cuts a text that is too long, between letters, or inside a letter that is too long by itself. */
const cut = (text: string, bytes: number): string =>
  firstOf(lettersOf(text), bytes) || firstOf(Array.from(text), bytes);

/** Splits off the ending of a name, with its dot. A name that begins with its only dot has no ending. */
export function splitEnding(name: string): [stem: string, ending: string] {
  const at = name.search(ENDING);
  return at > 0 ? [name.slice(0, at), name.slice(at)] : [name, ''];
}

/** Returns the name with a number from 2 on, such as `photo (2).jpg`. A cut name keeps the number and its ending. */
export function numberedName(name: string, number: number, most: number = Number.POSITIVE_INFINITY): string {
  const mark = number === 1 ? '' : ` (${number})`;
  const [stem, ending] = splitEnding(name);
  const left = most - bytesOf(mark + ending);
  return (bytesOf(stem) > left ? cut(stem, left) : stem) + mark + ending;
}

/** Returns the same text for names that some file system takes for one: of other case, composition or unseen characters. */
export const foldedName = (name: string): string =>
  name.replace(IGNORED, '').normalize('NFD').toUpperCase().toLowerCase().normalize('NFC');

/** Keeps the names of one folder. `take` gives each name once; the next caller who wants it gets it with a number. */
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

/** Returns one part of a path in the form that the service takes. */
function offeredPart(part: string): string {
  const plain = part.replace(UNSEEN, '_').replace(SEPARATORS, '_');
  if (['', '.', '..'].includes(plain)) return plain === '' ? '_' : plain.replaceAll('.', '_');
  return numberedName(plain, 1, LIMITS.fileNamePartBytes);
}

/** A file or a folder that has another name for the receiver. Both paths begin with the file or folder that is sent. */
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

/** The most bytes of a folder path: with the longest file name, including its number, the path reaches its limit. */
const FOLDER_BYTES = LIMITS.fileNameBytes - LIMITS.fileNamePartBytes - 1;

/**
 * Returns the names under which the files of one transfer are offered: one for each path, in the same order, and no two
 * alike. `renamed` lists the files and folders whose own name had to change. A file that lies too deep for the length limit
 * is offered in the last folder of its path that fits.
 */
export function offeredNames(paths: readonly (readonly string[])[]): { names: string[]; renamed: RenamedFile[] } {
  const names: string[] = [];
  const renamed: RenamedFile[] = [];
  const newTaken = () => makeTaken(String, LIMITS.fileNamePartBytes);

  function nameAll({ files, folders }: Folder, path: string, name: string, taken: Taken): void {
    const entries: { part: string; index?: number; inner?: Folder }[] = [...files];
    for (const [part, inner] of folders) entries.push({ part, inner });
    // An entry that need not be renamed takes its name first.
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
  /** Allows a leading dot at the top, where a shell or a program may take the file for its configuration. */
  readonly hidden?: boolean;
  /** Keeps the characters `<>:"|?*`, which the file systems of Linux and macOS take. */
  readonly isPosix?: boolean;
}

/** Also finds names that a file system takes for it, because it may ignore case and characters that show nothing. */
const isPartsName = (name: string): boolean => name.normalize('NFKC').replace(IGNORED, '').toLowerCase() === PARTS_NAME;

/** Returns one part of a path in the form that the file system takes. */
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
 * Finds where the files of one transfer are stored: the parts of a relative path for each name. The same name always has the
 * same path, and no two names have paths that some file system takes for one.
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

/** Returns the paths of all files of a transfer, in their order. A sender may give one name to two of them. */
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
