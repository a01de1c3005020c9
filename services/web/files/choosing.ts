import { offeredName } from './file-names.ts';

/** A file that somebody chose, and what it is called for the receiver. */
export interface ChosenFile {
  file: File;
  name: string;
  /** By which it can be read after a reload, where a browser gives one. */
  handle?: FileSystemFileHandle;
}

/** The service takes so many files in one offer. */
export const MOST_FILES = 1_000;

/** Files of an `input`, of the clipboard or of the share sheet. */
export const chosenOf = (files: Iterable<File>): ChosenFile[] =>
  [...files].map((file) => ({ file, name: offeredName(file.webkitRelativePath || file.name) }));

const fileOf = (entry: FileSystemFileEntry): Promise<File> =>
  new Promise((resolve, reject) => entry.file(resolve, reject));

/** A folder is read in parts, until one is empty. */
const entriesOf = (reader: FileSystemDirectoryReader): Promise<FileSystemEntry[]> =>
  new Promise((resolve, reject) => reader.readEntries(resolve, reject));

async function walk(entry: FileSystemEntry, prefix: string, found: ChosenFile[]): Promise<void> {
  if (found.length > MOST_FILES) return;
  const name = prefix + entry.name;
  if (entry.isFile) {
    found.push({ file: await fileOf(entry as FileSystemFileEntry), name: offeredName(name) });
    return;
  }
  const reader = (entry as FileSystemDirectoryEntry).createReader();
  for (let part = await entriesOf(reader); part.length > 0; part = await entriesOf(reader)) {
    for (const inner of part) await walk(inner, `${name}/`, found);
  }
}

type Handed = DataTransferItem & { getAsFileSystemHandle?: () => Promise<FileSystemHandle | null> };

/** Of files that were dropped by themselves; nothing where the browser has no handles. Asked for before anything is waited for. */
async function handlesOf(items: readonly DataTransferItem[]): Promise<FileSystemFileHandle[]> {
  const asked = items.map((item) => (item as Handed).getAsFileSystemHandle?.().catch(() => null) ?? null);
  const found = await Promise.all(asked.map(async (handle) => handle));
  return found.filter((handle) => handle?.kind === 'file') as FileSystemFileHandle[];
}

/** What was dropped or pasted, folders with everything in them. Reads the event before it waits for anything. */
export async function transferredFiles(data: DataTransfer): Promise<ChosenFile[]> {
  const items = [...data.items].filter(({ kind }) => kind === 'file');
  const entries = items.map((item) => item.webkitGetAsEntry());
  const handles = handlesOf(items);
  const plain = chosenOf(data.files);
  const isPlain = entries.length === 0 || entries.includes(null);
  const found: ChosenFile[] = isPlain ? plain : [];
  for (const entry of isPlain ? [] : entries) if (entry !== null) await walk(entry, '', found);
  const byName = new Map((await handles).map((handle) => [handle.name, handle]));
  return found.map((one) => {
    const handle = one.name === one.file.name ? byName.get(one.file.name) : undefined;
    return handle === undefined ? one : { ...one, handle };
  });
}

/** A picture of the clipboard has no name of its own, and comes as `image.png` each time. */
export function nameOfPasted({ file, name }: ChosenFile, now = new Date()): ChosenFile {
  if (!/^image\.\w+$/.test(name)) return { file, name };
  const at = now.toISOString().slice(0, 19).replace('T', ' ').replaceAll(':', '.');
  return { file, name: `${at}.${name.slice(6)}` };
}
