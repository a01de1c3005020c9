import type { FilesItem } from '../history/database.ts';
import type { History } from '../history/history.ts';
import { safePath } from './file-names.ts';
import { keptFile, removeKept } from './kept-files.ts';

/** The pickers of the File System Access API, where a browser has them. */
interface Pickers {
  showSaveFilePicker?: (options: { suggestedName: string }) => Promise<FileSystemFileHandle>;
  showDirectoryPicker?: (options: { mode: 'readwrite' }) => Promise<FileSystemDirectoryHandle>;
}

const pickers = window as Window & Pickers;
/** What is handed to the browser's downloads is kept so long for it. */
const DOWNLOAD_MS = 60_000;

/** From disk to disk: a file is never in memory as a whole. */
const copy = async (file: File, to: FileSystemFileHandle): Promise<void> =>
  file.stream().pipeTo(await to.createWritable());

async function copyInto(folder: FileSystemDirectoryHandle, file: File, name: string): Promise<void> {
  const parts = safePath(name);
  let at = folder;
  for (const part of parts.slice(0, -1)) at = await at.getDirectoryHandle(part, { create: true });
  await copy(file, await at.getFileHandle(parts.at(-1) ?? 'file', { create: true }));
}

function download(file: File, name: string): void {
  const url = URL.createObjectURL(file);
  const link = document.createElement('a');
  link.href = url;
  link.download = safePath(name).at(-1) ?? 'file';
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), DOWNLOAD_MS);
}

/**
 * Hands a received transfer over to whoever asked for it: to a place of their choice where the browser lets them choose, else
 * to its downloads. `gone`: the files are not here any more; `given up`: nobody chose a place.
 */
export async function saveFiles(
  account: string,
  history: History,
  item: FilesItem,
): Promise<'saved' | 'gone' | 'given up'> {
  const [first] = item.files;
  if (first === undefined) return 'gone';
  try {
    const isOne = item.fileCount === 1;
    if (isOne && pickers.showSaveFilePicker !== undefined) {
      const suggestedName = safePath(first.name).at(-1) ?? 'file';
      const to = await pickers.showSaveFilePicker({ suggestedName });
      return await finish(account, history, item, (file) => copy(file, to));
    }
    if (!isOne && pickers.showDirectoryPicker !== undefined) {
      const folder = await pickers.showDirectoryPicker({ mode: 'readwrite' });
      return await finish(account, history, item, (file, name) => copyInto(folder, file, name));
    }
  } catch (error) {
    if (error instanceof DOMException && error.name === 'AbortError') return 'given up';
    throw error;
  }
  return finish(account, history, item, async (file, name) => download(file, name), false);
}

async function finish(
  account: string,
  history: History,
  item: FilesItem,
  hand: (file: File, name: string) => Promise<void>,
  isStored = true,
): Promise<'saved' | 'gone'> {
  for (let index = 0; index < item.fileCount; index += 1) {
    const file = await keptFile(account, item.ref, index);
    if (file === null) return 'gone';
    await hand(file, item.files[index]?.name ?? `file ${index + 1}`);
  }
  await history.update(item.id, (one) => {
    if (one.kind === 'files') one.kept = isStored ? 'saved' : 'downloaded';
  });
  if (isStored) await removeKept(account, item.ref);
  return 'saved';
}
