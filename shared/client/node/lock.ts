import { randomUUID } from 'node:crypto';
import { open, readFile, rm, stat, utimes } from 'node:fs/promises';
import { hostname } from 'node:os';
import process from 'node:process';

/**
 * A lock that is a file, for processes of one user. The holder touches it regularly. A holder that died, or that was stopped
 * for `STALE_MS`, loses it.
 */
const STALE_MS = 20_000;
const TOUCH_MS = 5_000;
const AGAIN_MS = 50;

/** Returns the text that names a holder: no two holders have the same text. */
const ownText = (): string => `${process.pid} ${hostname()} ${randomUUID()}`;

const codeOf = (error: unknown): unknown => (error as { code?: unknown }).code;

/** Makes the file with this text; false if it exists already. */
async function make(path: string, text: string): Promise<boolean> {
  try {
    const file = await open(path, 'wx', 0o600);
    try {
      await file.writeFile(text);
    } catch (error) {
      // A full disk took only the name. The others would wait for a holder that does not exist.
      await rm(path, { force: true });
      throw error;
    } finally {
      await file.close();
    }
    return true;
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false;
    throw error;
  }
}

async function ageMs(path: string): Promise<number> {
  const found = await stat(path).catch(() => null);
  // The difference has no sign, because the clock may have been set back.
  return found === null ? 0 : Math.abs(Date.now() - found.mtimeMs);
}

function hasDied(text: string): boolean {
  const [pid, host] = text.split(' ');
  if (host !== hostname() || !/^[1-9]\d{0,9}$/.test(pid ?? '')) return false;
  try {
    return !process.kill(Number(pid), 0);
  } catch (error) {
    return codeOf(error) === 'ESRCH';
  }
}

async function isAbandoned(path: string): Promise<boolean> {
  const text = await readFile(path, 'utf8').catch(() => '');
  return hasDied(text) || (await ageMs(path)) > STALE_MS;
}

/**
 * Removes an abandoned lock. One process at a time looks and removes. Otherwise, of two that find the same old lock, the
 * second could remove the lock that the first has made since.
 */
async function clearAbandoned(path: string): Promise<void> {
  if (!(await isAbandoned(path))) return;
  const guard = `${path}.clearing`;
  if (await make(guard, ownText())) {
    try {
      if (await isAbandoned(path)) await rm(path, { force: true });
    } finally {
      await rm(guard, { force: true });
    }
  } else if (await isAbandoned(guard)) await rm(guard, { force: true });
}

/** Runs `work` while no other process that locks `path` does. */
export async function withLock<T>(path: string, work: () => Promise<T>): Promise<T> {
  const text = ownText();
  while (!(await make(path, text))) {
    await clearAbandoned(path);
    await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
  }
  const isOwn = async () => (await readFile(path, 'utf8').catch(() => '')) === text;
  const touching = setInterval(() => {
    const now = new Date();
    void isOwn().then((own) => (own ? utimes(path, now, now).catch(() => {}) : undefined));
  }, TOUCH_MS);
  touching.unref();
  try {
    return await work();
  } finally {
    clearInterval(touching);
    // If this process was stopped for too long, another one may hold the lock.
    if (await isOwn()) await rm(path, { force: true });
  }
}

const NO_SPACE: readonly unknown[] = ['ENOSPC', 'EDQUOT', 'EROFS'];

/**
 * Runs `work` under the lock too, but without it on a disk that takes no file. There nobody can store anything, and `work`
 * still has something to read.
 */
export async function withLockIfThereIsSpace<T>(path: string, work: () => Promise<T>): Promise<T> {
  let isHeld = false;
  try {
    return await withLock(path, () => {
      isHeld = true;
      return work();
    });
  } catch (error) {
    if (isHeld || !NO_SPACE.includes(codeOf(error))) throw error;
    return work();
  }
}
