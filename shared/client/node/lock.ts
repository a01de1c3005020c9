import { randomUUID } from 'node:crypto';
import { open, readFile, rm, stat, utimes } from 'node:fs/promises';
import { hostname } from 'node:os';
import process from 'node:process';

/**
 * A lock that is a file, for processes of one user. Whoever holds it touches it again and again; a holder that died, or that
 * was stopped for so long, loses it.
 */
const STALE_MS = 20_000;
const TOUCH_MS = 5_000;
const AGAIN_MS = 50;

/** Who holds a lock: no two holders have the same text. */
const ownText = (): string => `${process.pid} ${hostname()} ${randomUUID()}`;

const codeOf = (error: unknown): unknown => (error as { code?: unknown }).code;

/** Makes the file with this text; false where it is there already. */
async function make(path: string, text: string): Promise<boolean> {
  try {
    const file = await open(path, 'wx', 0o600);
    try {
      await file.writeFile(text);
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
  // A clock that was set back says only that the time is not now.
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
 * Removes what is abandoned. One process at a time looks and removes: of two that find the same old lock, the second would
 * else remove the lock that the first has made since.
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
    // Stopped for too long, it may have passed to another.
    if (await isOwn()) await rm(path, { force: true });
  }
}
