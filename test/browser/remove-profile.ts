import { rmSync } from 'node:fs';

const TRIES = 20;

/**
 * Removes the profile of a browser that was killed. Its other processes end a moment later, and write until then. The
 * retries of `rmSync` only wait for a folder that it has emptied. Files that were written meanwhile need another
 * removal.
 */
export function removeProfile(folder: string): void {
  for (let left = TRIES; ; left--) {
    try {
      rmSync(folder, { recursive: true, force: true, maxRetries: 3, retryDelay: 100 });
      return;
    } catch (error) {
      if (left === 0) throw error;
    }
  }
}
