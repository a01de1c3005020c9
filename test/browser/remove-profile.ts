import { rmSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';

const TRIES = 100;
const PAUSE_MS = 100;

/**
 * Removes the profile of a browser that was killed. Its other processes end a moment after it, and write until then: what they
 * leave in a folder that was just emptied has to be removed too, which the retries of `rmSync` do not.
 */
export async function removeProfile(folder: string): Promise<void> {
  for (let left = TRIES; ; left--) {
    try {
      rmSync(folder, { recursive: true, force: true });
      return;
    } catch (error) {
      if (left === 0) throw error;
      await pause(PAUSE_MS);
    }
  }
}
