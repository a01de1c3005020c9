import { randomUUID } from 'node:crypto';
import { mkdir, open, readdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import process from 'node:process';
import { sessionIn, type SessionStore } from '../session/session.ts';
import { withLockIfThereIsSpace } from './lock.ts';
import { syncFolder } from './replace-file.ts';

/** The ending of a draft's name, after the name of the file. */
const DRAFT = /^[0-9a-f-]{36}$/;
/** The age of an abandoned draft: longer than writing takes. */
const DRAFT_MS = 60_000;
/** The rights of everybody but the owner. */
const OTHERS = 0o077;

/** Reads the file; null if there is none. Takes away the rights of others. */
async function readOwn(path: string): Promise<string | null> {
  const file = await open(path).catch((error: unknown) => {
    if ((error as { code?: unknown }).code === 'ENOENT') return null;
    throw error;
  });
  if (file === null) return null;
  try {
    const { mode, uid } = await file.stat();
    if ((mode & OTHERS) !== 0 && uid === process.getuid?.()) await file.chmod(mode & ~OTHERS & 0o777);
    return await file.readFile('utf8');
  } finally {
    await file.close();
  }
}

/** Removes the drafts of processes that died while they saved: they hold a secret, like the file itself. */
async function removeDrafts(path: string, ageMs: number): Promise<void> {
  const [folder, start] = [dirname(path), `${basename(path)}.`];
  const names = await readdir(folder).catch(() => []);
  for (const name of names.filter((each) => each.startsWith(start) && DRAFT.test(each.slice(start.length)))) {
    const at = join(folder, name);
    const { mtimeMs } = await stat(at).catch(() => ({ mtimeMs: Date.now() }));
    // A file of this very millisecond may have a later fraction of it as its time.
    if (ageMs === 0 || Date.now() - mtimeMs >= ageMs) await rm(at, { force: true });
  }
}

/** Keeps the session in a file that only its owner can read, for any number of processes. */
export function fileSession(path: string): SessionStore {
  const makeFolder = () => mkdir(dirname(path), { recursive: true, mode: 0o700 });
  return {
    async load() {
      const text = await readOwn(path).catch((cause: unknown) => {
        throw new Error(`The session in ${path} cannot be read`, { cause });
      });
      const session = text === null ? null : sessionIn(text);
      if (text !== null && session === null) {
        throw new Error(`The session in ${path} cannot be read: remove the file, and sign in again`);
      }
      return session;
    },
    async save(session) {
      await makeFolder();
      // A reader finds the whole old file or the whole new one, even after a crash.
      const written = `${path}.${randomUUID()}`;
      try {
        await writeFile(written, `${JSON.stringify(session, null, 2)}\n`, { mode: 0o600, flush: true, flag: 'wx' });
        await rename(written, path);
        // Without the new name the next start would renew with a secret that is spent.
        await syncFolder(path);
        await removeDrafts(path, DRAFT_MS);
      } catch (error) {
        await rm(written, { force: true });
        throw error;
      }
    },
    async clear() {
      await rm(path, { force: true });
      await removeDrafts(path, 0);
    },
    async lock(work) {
      await makeFolder();
      return withLockIfThereIsSpace(`${path}.lock`, work);
    },
  };
}
