import type { ChosenFile } from '../files/choosing.ts';
import type { FilesItem, KeptSource } from '../history/database.ts';
import type { History } from '../history/history.ts';
import { inLock } from '../locks.ts';
import { KEPT_SOURCE_BYTES } from './file-lanes.ts';

/** The most bytes that are copied for one item, and for all waiting items. A handle takes no space. */
const MOST_BYTES = 32 * 1024 * 1024;
const MOST_BYTES_IN_ALL = 256 * 1024 * 1024;
/** The share of the free space that copies may take. */
const SHARE_OF_SPACE = 0.25;

type Permission = 'granted' | 'denied' | 'prompt';
/** The File System Access API of browsers, beyond their types. */
type Handle = FileSystemFileHandle & {
  queryPermission(about: { mode: 'read' }): Promise<Permission>;
  requestPermission(about: { mode: 'read' }): Promise<Permission>;
};

async function hasSpaceFor(history: History, item: FilesItem, waiting: readonly string[]): Promise<boolean> {
  if (item.totalBytes > MOST_BYTES) return false;
  let bytes = item.totalBytes;
  for (const id of waiting) {
    const other = await history.item(id);
    if (other?.kind === 'files' && other.id !== item.id && other.totalBytes <= MOST_BYTES) bytes += other.totalBytes;
  }
  if (bytes > MOST_BYTES_IN_ALL) return false;
  const { quota = 0, usage = 0 } = (await navigator.storage?.estimate?.()) ?? {};
  return quota === 0 || item.totalBytes <= (quota - usage) * SHARE_OF_SPACE;
}

/** Sources do not count as orphans while their item is on its way into the outbox. */
export const inSources = <T>(work: () => Promise<T>): Promise<T> => inLock('baton-sources', work);

/** Forgets sources that no item belongs to, because the page was closed before it was in the outbox; false: there is one. */
export const forgetOrphan = (history: History, id: string): Promise<boolean> =>
  inSources(async () => {
    if (((await history.item(id)) ?? (await history.byRef(id))) !== undefined) return false;
    await history.sources.forget(id);
    return true;
  });

/** Keeps handles, or copies of small files, to read them from after a reload. It keeps nothing if there is no space. */
export async function keepSources(
  history: History,
  item: FilesItem,
  files: readonly ChosenFile[],
  waiting: readonly string[],
): Promise<void> {
  try {
    const isCopied = await hasSpaceFor(history, item, waiting);
    if (!isCopied && files.some(({ handle }) => handle === undefined)) return;
    const kept = files.map(({ file, name, handle }) =>
      isCopied ? { file, name } : { file: null, name, ...(handle !== undefined && { handle }) },
    );
    await history.sources.keep(item.id, kept);
  } catch {
    // The files are still sent, but have to be chosen again after a reload.
  }
}

/** Keeps the sources of an offer: small files, or the handles of large ones. */
export async function keepOffered(
  history: History,
  { totalBytes }: FilesItem,
  transferId: string,
  files: readonly ChosenFile[],
): Promise<void> {
  const isCopied = totalBytes <= KEPT_SOURCE_BYTES;
  if (!isCopied && files.some(({ handle }) => handle === undefined)) return;
  const kept = files.map(({ file, name, handle }) => (isCopied ? { file, name } : { file: null, name, handle }));
  // If the browser has no space for them, the user chooses them again.
  await history.sources.keep(transferId, kept as KeptSource[]).catch(() => {});
}

type Kept = Awaited<ReturnType<History['sources']['of']>>;

const handlesOf = (kept: Kept): Handle[] =>
  (kept ?? []).flatMap(({ file, handle }) => (file !== null || handle === undefined ? [] : [handle as Handle]));

/** Sources lie under the transfer of their item once that is offered. */
const sourcesOf = (history: History, { id, ref }: FilesItem): Promise<Kept> =>
  history.sources.of(ref === '' ? id : ref);

/** Tells whether the files of an item can be read by handles, which the user may have to allow. */
export const hasHandles = async (history: History, item: FilesItem): Promise<boolean> =>
  handlesOf(await sourcesOf(history, item)).length > 0;

/** Returns the files of an item; `allow` when the user has to allow reading, `choose` when they have to be chosen again. */
export async function keptSources(history: History, item: FilesItem): Promise<ChosenFile[] | 'allow' | 'choose'> {
  const kept = await sourcesOf(history, item);
  if (kept === null) return 'choose';
  try {
    for (const handle of handlesOf(kept)) {
      if ((await handle.queryPermission({ mode: 'read' })) !== 'granted') return 'allow';
    }
    const files: ChosenFile[] = [];
    for (const { file, name, handle } of kept) {
      const found = file ?? (await handle?.getFile());
      if (found !== undefined) files.push({ file: found, name, ...(handle !== undefined && { handle }) });
    }
    const isSame = item.files.every(({ size }, i) => files[i]?.file.size === size);
    return isSame && files.length === item.fileCount ? files : 'choose';
  } catch {
    // The file was moved or removed.
    return 'choose';
  }
}

/** Asks to read the files. Call it from a click. False: the user did not allow it. */
export async function allowSources(history: History, item: FilesItem): Promise<boolean> {
  for (const handle of handlesOf(await sourcesOf(history, item))) {
    if ((await handle.requestPermission({ mode: 'read' })) !== 'granted') return false;
  }
  return true;
}
