import { randomUUID } from 'node:crypto';
import { mkdir, open, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Session, SessionStore } from '../session/session.ts';

/** A process that was killed while it renewed has left its lock. A renewal takes 10 s at most. */
const STALE_MS = 20_000;
const AGAIN_MS = 50;

const codeOf = (error: unknown): unknown => (error as { code?: unknown }).code;

async function tryLock(path: string): Promise<boolean> {
  try {
    await (await open(path, 'wx', 0o600)).close();
    return true;
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error;
  }
  const found = await stat(path).catch(() => null);
  if (found !== null && Date.now() - found.mtimeMs > STALE_MS) await rm(path, { force: true });
  return false;
}

/** Keeps the session in a file that its owner alone can read, for any number of processes. */
export function fileSession(path: string): SessionStore {
  return {
    async load() {
      try {
        return JSON.parse(await readFile(path, 'utf8')) as Session;
      } catch (error) {
        if (codeOf(error) === 'ENOENT') return null;
        throw new Error(`The session in ${path} cannot be read`, { cause: error });
      }
    },
    async save(session) {
      await mkdir(dirname(path), { recursive: true, mode: 0o700 });
      // Whoever reads it meanwhile, or finds it after a crash, has the old one or the new one.
      const written = `${path}.${randomUUID()}`;
      await writeFile(written, `${JSON.stringify(session, null, 2)}\n`, { mode: 0o600, flush: true });
      await rename(written, path);
    },
    clear: () => rm(path, { force: true }),
    async lock(work) {
      const lock = `${path}.lock`;
      await mkdir(dirname(path), { recursive: true, mode: 0o700 });
      while (!(await tryLock(lock))) await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
      try {
        return await work();
      } finally {
        await rm(lock, { force: true });
      }
    },
  };
}
