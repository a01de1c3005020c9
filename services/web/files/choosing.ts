import { offeredNames } from '../../../shared/client/files/names.ts';

/** A file that the user chose, and its name for the receiver. */
export interface ChosenFile {
  file: File;
  name: string;
  /** A handle to read it after a reload, if the browser gives one. */
  handle?: FileSystemFileHandle;
  /** Its name in this browser, if that differs. */
  from?: string;
}

/** The most files that the service takes in one offer. */
export const MOST_FILES = 1_000;

function named(found: readonly { file: File; path: string }[]): ChosenFile[] {
  const paths = found.map(({ path }) => path.split('/').filter((part) => part !== ''));
  const { names } = offeredNames(paths.map((path) => (path.length === 0 ? ['file'] : path)));
  return found.map(({ file, path }, index) => {
    const name = names[index] ?? 'file';
    return { file, name, ...(name !== path && { from: path }) };
  });
}

/** Returns the files of an `input`, of the clipboard or of the share sheet. */
export const chosenOf = (files: Iterable<File>): ChosenFile[] =>
  named(Array.from(files, (file) => ({ file, path: file.webkitRelativePath || file.name })));

const fileOf = (entry: FileSystemFileEntry): Promise<File> =>
  new Promise((resolve, reject) => entry.file(resolve, reject));

/** Reads a part of a folder. The last part is empty. */
const entriesOf = (reader: FileSystemDirectoryReader): Promise<FileSystemEntry[]> =>
  new Promise((resolve, reject) => reader.readEntries(resolve, reject));

interface Found {
  files: { file: File; path: string }[];
  /** Empty folders, and unreadable entries. */
  skipped: string[];
}

async function walk(entry: FileSystemEntry, prefix: string, found: Found): Promise<void> {
  if (found.files.length > MOST_FILES) return;
  const path = prefix + entry.name;
  try {
    if (entry.isFile) {
      found.files.push({ file: await fileOf(entry as FileSystemFileEntry), path });
      return;
    }
    const reader = (entry as FileSystemDirectoryEntry).createReader();
    let count = 0;
    for (let part = await entriesOf(reader); part.length > 0; part = await entriesOf(reader)) {
      count += part.length;
      for (const inner of part) await walk(inner, `${path}/`, found);
    }
    if (count === 0) found.skipped.push(path);
  } catch {
    found.skipped.push(path);
  }
}

type Handed = DataTransferItem & { getAsFileSystemHandle?: () => Promise<FileSystemHandle | null> };

/**
 * Returns the handles of files that were dropped without a folder; none if the browser has no handles. Call it before any
 * await.
 */
async function handlesOf(items: readonly DataTransferItem[]): Promise<FileSystemFileHandle[]> {
  const asked = items.map((item) => (item as Handed).getAsFileSystemHandle?.().catch(() => null) ?? null);
  const found = await Promise.all(asked.map(async (handle) => handle));
  return found.filter((handle) => handle?.kind === 'file') as FileSystemFileHandle[];
}

/**
 * Returns the dropped or pasted files, including all files in folders, and the names of entries that cannot be sent. It
 * reads the event before any await.
 */
export async function transferredFiles(data: DataTransfer): Promise<{ files: ChosenFile[]; skipped: string[] }> {
  const items = [...data.items].filter(({ kind }) => kind === 'file');
  const entries = items.map((item) => item.webkitGetAsEntry());
  const handles = handlesOf(items);
  const plain = chosenOf(data.files);
  const isPlain = entries.length === 0 || entries.includes(null);
  const found: Found = { files: [], skipped: [] };
  for (const entry of isPlain ? [] : entries) if (entry !== null) await walk(entry, '', found);
  const byName = new Map((await handles).map((handle) => [handle.name, handle]));
  const files = (isPlain ? plain : named(found.files)).map((one) => {
    const isAlone = (one.from ?? one.name) === one.file.name;
    const handle = isAlone ? byName.get(one.file.name) : undefined;
    return handle === undefined ? one : { ...one, handle };
  });
  return { files, skipped: found.skipped };
}

/** Names a pasted picture after the time, because each picture of the clipboard comes as `image.png`. */
export function nameOfPasted({ file, name, from = name }: ChosenFile, now = new Date()): ChosenFile {
  const ending = /^image( \(\d+\))?\.\w+$/.test(name) && /^image\.\w+$/.test(from) ? name.slice('image'.length) : null;
  if (ending === null) return { file, name, ...(from !== name && { from }) };
  // As the clock on the wall has it, and not in UTC.
  const local = new Date(now.getTime() - now.getTimezoneOffset() * 60_000);
  const at = local.toISOString().slice(0, 19).replace('T', ' ').replaceAll(':', '.');
  return { file, name: `${at}${ending}` };
}
