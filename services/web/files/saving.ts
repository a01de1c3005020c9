import { storedPaths } from '../../../shared/client/files/names.ts';
import type { FilesItem } from '../history/database.ts';
import type { History } from '../history/history.ts';
import { inLock } from '../locks.ts';
import { askWorker, newFileNumber } from './ask-worker.ts';
import { ARCHIVE, dropKept, keptFile, keptPath, removeKept } from './kept-files.ts';
import { copyTo, makeFolderSaver } from './save-folder.ts';

/** The pickers of the File System Access API, if a browser has them. */
interface Pickers {
  showSaveFilePicker?: (options: { suggestedName: string }) => Promise<FileSystemFileHandle>;
  showDirectoryPicker?: (options: { mode: 'readwrite' }) => Promise<FileSystemDirectoryHandle>;
}

const pickers = window as Window & Pickers;
/** How long a file stays available for the browser's downloads. */
const DOWNLOAD_MS = 60_000;
/** Chromium drops downloads of a page beyond ten files a second. */
const PACE_MS = 200;
/** How many saved files are noted, and their copies dropped, at a time. */
const NOTED_FILES = 20;

/** How many of the wanted files were saved. `isGone`: some are no longer in this browser. */
export interface SaveResult {
  saved: number;
  wanted: number;
  isGone: boolean;
  error: unknown;
}

interface Saving {
  account: string;
  history: History;
  item: FilesItem;
}

interface Wanted {
  index: number;
  path: readonly string[];
}

/** Returns all files of a transfer with distinct names, or the requested one. */
function wantedOf({ files, saved = [], kept }: FilesItem, only: number | null, isDropped: boolean): Wanted[] {
  const paths = storedPaths(files.map(({ name }) => name));
  const all = files.map(({ index }, at) => ({ index, path: paths[at] ?? [] }));
  if (only !== null) return all.filter(({ index }) => index === only);
  return isDropped && kept === 'here' ? all.filter(({ index }) => !saved.includes(index)) : all;
}

/**
 * Records which files were handed over; `isDropped`: their copies are no longer needed. Copies that cannot be removed now
 * count as downloaded, so that they can be removed later.
 */
async function note({ account, history, item }: Saving, done: readonly number[], isDropped: boolean): Promise<void> {
  let isAll = false;
  await history.update(item.id, (one) => {
    if (one.kind !== 'files') return;
    one.saved = [...new Set([...(one.saved ?? []), ...done])];
    isAll = one.saved.length >= one.fileCount;
    if (isAll) one.kept = 'downloaded';
  });
  if (!isDropped) return;
  const drop = async () => {
    if (isAll) await removeKept(account, item.ref);
    else for (const index of done) await dropKept(account, item.ref, index);
  };
  const isGone = await drop().then(
    () => true,
    () => false,
  );
  if (!isAll || !isGone) return;
  await history.update(item.id, (one) => {
    if (one.kind === 'files') one.kept = 'saved';
  });
}

/** Saves the files one after the other. Files that were saved before a failure stay saved. */
async function saveEach(
  saving: Saving,
  wanted: readonly Wanted[],
  save: (file: File, path: readonly string[]) => Promise<void>,
  isDropped: boolean,
): Promise<SaveResult> {
  const { account, item } = saving;
  const result: SaveResult = { saved: 0, wanted: wanted.length, isGone: false, error: null };
  let done: number[] = [];
  try {
    for (const { index, path } of wanted) {
      const file = await keptFile(account, item.ref, index);
      if (file === null) {
        result.isGone = true;
        continue;
      }
      await save(file, path);
      result.saved += 1;
      done.push(index);
      if (done.length < NOTED_FILES) continue;
      await note(saving, done, isDropped);
      done = [];
    }
  } catch (error) {
    result.error = error;
  }
  if (done.length > 0) await note(saving, done, isDropped);
  return result;
}

function download(file: File, name: string): void {
  const url = URL.createObjectURL(file);
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), DOWNLOAD_MS);
}

/** Makes the archive; null if there is no space for it besides the files. */
async function archiveOf({ account, item }: Saving, wanted: readonly Wanted[]): Promise<File | null> {
  const files = new Map(item.files.map((file) => [file.index, file]));
  const entries = wanted.map(({ index, path }) => {
    const { size = 0, modified_at } = files.get(index) ?? {};
    return { index, name: path.join('/'), size, modifiedAt: modified_at };
  });
  const path = keptPath(account, item.ref, ARCHIVE);
  const made = await askWorker({ act: 'archive', file: newFileNumber(), path, entries });
  return made === 'ready' ? keptFile(account, item.ref, ARCHIVE) : null;
}

/** Returns the name of the folder that contains all files, otherwise the name that the app gives. */
function archiveName(wanted: readonly Wanted[], otherwise: string): string {
  const tops = new Set(wanted.map(({ path }) => path[0]));
  const [top = ''] = tops;
  return `${tops.size === 1 && (wanted[0]?.path.length ?? 0) > 1 ? top : otherwise}.zip`;
}

/** Hands files to the downloads: one file unchanged, several as one archive, or one by one if space is short. */
async function handOver(saving: Saving, wanted: readonly Wanted[], title: string): Promise<SaveResult> {
  if (wanted.length > 1) {
    const lock = `baton-archive-${saving.item.ref}`;
    const archive = await inLock(lock, () => archiveOf(saving, wanted));
    if (archive !== null) {
      download(archive, archiveName(wanted, title));
      const indices = wanted.map(({ index }) => index);
      await note(saving, indices, false);
      return { saved: wanted.length, wanted: wanted.length, isGone: false, error: null };
    }
  }
  const hand = async (file: File, path: readonly string[]): Promise<void> => {
    download(file, path.at(-1) ?? 'file');
    if (wanted.length > 1) await new Promise((resolve) => setTimeout(resolve, PACE_MS));
  };
  return saveEach(saving, wanted, hand, false);
}

/** Tells whether copies stay in this browser until the user removes them, because the result of a download is unknown. */
export const keepsCopies = (): boolean => pickers.showDirectoryPicker === undefined;

async function toPickedFile(saving: Saving, wanted: Wanted): Promise<SaveResult> {
  const to = await pickers.showSaveFilePicker?.({ suggestedName: wanted.path.at(-1) ?? 'file' });
  if (to === undefined) throw new TypeError('There is no picker');
  // The browser has asked whether to replace an existing file, and has emptied it.
  const result = await saveEach(saving, [wanted], (file) => copyTo(file, to), true);
  if (result.saved === 0) await removeEmpty(to);
  return result;
}

async function removeEmpty(file: FileSystemFileHandle & { remove?: () => Promise<void> }): Promise<void> {
  try {
    if ((await file.getFile()).size === 0) await file.remove?.();
  } catch {
    // The browser no longer allows access to it.
  }
}

/**
 * Hands a received transfer, or one file of it, to the user: at a place of their choice if the browser lets them choose,
 * otherwise in the downloads, where several files become an archive called `title`. Null: the user chose no place.
 */
export async function saveFiles(saving: Saving, title: string, only: number | null = null): Promise<SaveResult | null> {
  const wanted = wantedOf(saving.item, only, !keepsCopies());
  const [first] = wanted;
  if (first === undefined) return { saved: 0, wanted: 0, isGone: true, error: null };
  try {
    if (wanted.length === 1 && pickers.showSaveFilePicker !== undefined) return await toPickedFile(saving, first);
    if (pickers.showDirectoryPicker !== undefined) {
      const folder = await pickers.showDirectoryPicker({ mode: 'readwrite' });
      return await saveEach(saving, wanted, makeFolderSaver(folder), true);
    }
  } catch (error) {
    // Failures while storing are in the result.
    if (error instanceof DOMException && error.name === 'AbortError') return null;
    throw error;
  }
  return handOver(saving, wanted, title);
}

/** The most files that Chromium hands to the system's sheet at once. */
const MOST_SHARED = 10;

/** Tells whether the system has a sheet that hands these files to other apps, such as the photos of a phone. */
export function canShare({ files, fileCount }: FilesItem): boolean {
  const probe = [new File([''], 'a.txt', { type: 'text/plain' })];
  const isFew = fileCount <= MOST_SHARED && files.length === fileCount;
  return isFew && keepsCopies() && navigator.canShare?.({ files: probe }) === true;
}

/** Returns a stored file with the name, type and date that it had at the sender. */
async function fileToShare({ account, item }: Saving, { index, path }: Wanted): Promise<File | null> {
  const file = await keptFile(account, item.ref, index);
  const { type = null, modified_at } = item.files.find((one) => one.index === index) ?? {};
  const about = { type: type ?? '', lastModified: modified_at ?? file?.lastModified ?? 0 };
  return file && new File([file], path.at(-1) ?? 'file', about);
}

/**
 * Hands a received transfer to another app, which the user chooses in the system's sheet. Files that the sheet refuses go to
 * the downloads. Null: the user chose no app.
 */
export async function shareFiles(saving: Saving, title: string): Promise<SaveResult | null> {
  const wanted = wantedOf(saving.item, null, false);
  const files = await Promise.all(wanted.map((one) => fileToShare(saving, one)));
  const there = files.filter((file) => file !== null);
  if (there.length < wanted.length) return handOver(saving, wanted, title);
  try {
    await navigator.share({ files: there });
  } catch (error) {
    if (error instanceof DOMException && error.name === 'AbortError') return null;
    // The system refuses some types and sizes, and says so only now.
    return handOver(saving, wanted, title);
  }
  const indices = wanted.map(({ index }) => index);
  await note(saving, indices, false);
  return { saved: wanted.length, wanted: wanted.length, isGone: false, error: null };
}

/** Removes the copies in this browser, whether they were saved or not. */
export async function removeCopies({ account, history, item }: Saving): Promise<void> {
  await removeKept(account, item.ref);
  await history.update(item.id, (one) => {
    if (one.kind === 'files') one.kept = one.kept === 'downloaded' ? 'saved' : 'removed';
  });
}
