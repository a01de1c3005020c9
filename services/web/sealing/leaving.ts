import type { Device } from '../../../shared/client/index.ts';
import { repeated } from '../engine/repeated.ts';

/** A device that hears of a removal waits for up to this time, so that not all replace the key at once. */
const LONGEST_PAUSE_MS = 10_000;

interface Parts {
  /** Returns the members to take out of the ring. */
  leaving: (devices: readonly Device[]) => Promise<string[]>;
  remove: (ids: readonly string[]) => Promise<void>;
  /** Only a member changes the ring. */
  isMember: () => boolean;
  pause?: (mostMs: number) => Promise<unknown>;
}

const randomPause = (mostMs: number) => new Promise((resolve) => setTimeout(resolve, Math.random() * mostMs));

/** Takes members out of the ring that were removed, or were away for too long. */
export function makeLeaving({ leaving, remove, isMember, pause = randomPause }: Parts) {
  let listed: readonly Device[] = [];

  async function takeOut(): Promise<void> {
    if (!isMember() || listed.length === 0) return;
    if ((await leaving(listed)).length === 0) return;
    await pause(LONGEST_PAUSE_MS);
    // Read again: another device may have done it.
    const gone = await leaving(listed);
    if (gone.length > 0) await remove(gone);
  }

  const takeOutSoon = repeated(takeOut);

  return {
    /** Takes them out soon, and tries again while the service does not respond. */
    soon(devices: readonly Device[]): void {
      listed = devices;
      takeOutSoon();
    },
  };
}
