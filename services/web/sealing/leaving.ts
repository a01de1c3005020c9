import type { Device } from '../../../shared/client/index.ts';

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
  let isRunning = false;
  let isDue = false;

  async function takeOut(): Promise<void> {
    if (!isMember() || listed.length === 0) return;
    if ((await leaving(listed)).length === 0) return;
    await pause(LONGEST_PAUSE_MS);
    // Read again: another device may have done it.
    const gone = await leaving(listed);
    if (gone.length > 0) await remove(gone);
  }

  /** Does so soon. A failure is tried again with the next list of devices, and when the stream is back. */
  function soon(devices: readonly Device[]): void {
    listed = devices;
    isDue = true;
    if (isRunning) return;
    isRunning = true;
    isDue = false;
    void takeOut()
      .catch(() => {})
      .finally(() => {
        isRunning = false;
        // Something changed after the members were read.
        if (isDue) soon(listed);
      });
  }

  return { soon };
}
