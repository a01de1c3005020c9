import { randomUUID } from 'node:crypto';
import { open, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { codeOf, isUnsynced } from './file-errors.ts';

const DRAFT = /^[0-9a-f-]{36}$/;
const OWNER_ALONE = 0o600;

/** Returns the text of a file; empty if there is none. */
export async function readIfThere(path: string): Promise<string> {
  return readFile(path, 'utf8').catch((error: unknown) => {
    if (codeOf(error) === 'ENOENT') return '';
    throw error;
  });
}

/** Removes the drafts of processes that died while they saved: they may hold secrets. Called under the lock of the file. */
export async function removeDrafts(path: string): Promise<void> {
  const start = `${basename(path)}.`;
  const names = await readdir(dirname(path)).catch(() => []);
  const drafts = names.filter((name) => name.startsWith(start) && DRAFT.test(name.slice(start.length)));
  await Promise.all(drafts.map((name) => rm(join(dirname(path), name), { force: true })));
}

/** Makes sure that the file has its name also after a loss of power, as far as the system can. */
export async function syncFolder(path: string): Promise<void> {
  const folder = await open(dirname(path)).catch(() => null);
  try {
    await folder?.sync();
  } catch (error) {
    if (!isUnsynced(error)) throw error;
  } finally {
    await folder?.close();
  }
}

/**
 * Replaces a file by one that only its owner can read. A reader finds the whole old file or the whole new one, even after a
 * crash.
 */
export async function replaceFile(path: string, text: string | Uint8Array): Promise<void> {
  const written = `${path}.${randomUUID()}`;
  try {
    await writeFile(written, text, { mode: OWNER_ALONE, flush: true, flag: 'wx' });
    await rename(written, path);
    await syncFolder(path);
  } finally {
    await rm(written, { force: true });
  }
}
