import { watch } from 'node:fs';
import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { stampOf, type WatchedFile } from './settled.ts';

/** A file whose size and date stay the same for this long is finished. */
const QUIET_MS = 2_000;
/** Without an event the folder is read this often, because some file systems report no changes. */
const AGAIN_MS = 10_000;

/** Endings that programs add to the names of unfinished files. */
const PARTIAL = /(?:\.part|\.partial|\.crdownload|\.download|\.opdownload|\.aria2|\.!qb|\.!ut|\.tmp|\.temp|\.swp|~)$/i;
/** The endings of files that lie beside an unfinished one of the same name. */
const BESIDE = ['.part', '.partial', '.crdownload', '.aria2', '.tmp'];

/** Tells whether a name is hidden, or belongs to an unfinished file. Office programs begin lock files with `~$`. */
const isPassedOver = (name: string): boolean => name.startsWith('.') || name.startsWith('~$') || PARTIAL.test(name);

export interface FinishedFiles {
  /** Returns every file of the folder that is not passed over, finished or not. */
  present(): Promise<WatchedFile[]>;
  /** Returns the finished files. Throws if the folder cannot be read. */
  finished(): Promise<WatchedFile[]>;
  stop(): void;
}

interface Seen {
  readonly stamp: string;
  readonly sinceMs: number;
}

/**
 * Finds the finished files that lie directly in a folder. It passes over links, hidden names, names of unfinished
 * files, files beside an unfinished one of the same name, and empty files, because browsers reserve a name with an
 * empty file.
 */
export function watchFiles(
  dir: string,
  isExcluded: (name: string) => boolean,
  clock: () => number = () => performance.now(),
): FinishedFiles {
  let seen = new Map<string, Seen>();
  let found: WatchedFile[] = [];
  let hasChanged = true;
  let readAtMs = Number.NEGATIVE_INFINITY;
  let watcher: ReturnType<typeof watch> | null = null;
  try {
    watcher = watch(dir, () => {
      hasChanged = true;
    });
    // Without events the folder is still read every few seconds.
    watcher.on('error', () => undefined);
  } catch {
    watcher = null;
  }

  async function present(): Promise<WatchedFile[]> {
    const entries = await readdir(dir, { withFileTypes: true });
    const names = new Set(entries.map(({ name }) => name));
    const files: WatchedFile[] = [];
    for (const entry of entries) {
      const { name } = entry;
      if (!entry.isFile() || isPassedOver(name) || isExcluded(name)) continue;
      if (BESIDE.some((ending) => names.has(name + ending))) continue;
      // The file may be gone by now, or have a name that is not UTF-8.
      const stats = await lstat(join(dir, name)).catch(() => null);
      if (stats?.isFile() && stats.size > 0) files.push({ name, stamp: stampOf(stats) });
    }
    return files;
  }

  return {
    present,
    async finished() {
      const now = clock();
      const isWaiting = [...seen.values()].some(({ sinceMs }) => now - sinceMs < 2 * QUIET_MS);
      if (hasChanged || isWaiting || now - readAtMs >= AGAIN_MS) {
        hasChanged = false;
        readAtMs = now;
        found = await present();
        seen = new Map(
          found.map(({ name, stamp }) => {
            const before = seen.get(name);
            return [name, before?.stamp === stamp ? before : { stamp, sinceMs: now }];
          }),
        );
      }
      return found.filter(({ name }) => now - (seen.get(name)?.sinceMs ?? now) >= QUIET_MS);
    },
    stop: () => watcher?.close(),
  };
}
