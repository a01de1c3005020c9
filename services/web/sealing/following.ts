import type { Device } from '../../../shared/client/index.ts';
import type { Parts } from '../engine/parts.ts';
import type { Shared } from '../engine/shared-state.ts';
import { keyState } from './key-state.ts';

/** A device that hears of a removal waits for up to this time, so that not all replace the key at once. */
const LONGEST_PAUSE_MS = 10_000;

const isKeyed = (): boolean => keyState.peek().kind === 'keyed';

/** Takes members out of the ring that were removed, or were away for too long. */
function makeLeaving({ keys }: Parts) {
  let listed: readonly Device[] = [];
  let isRunning = false;

  async function takeOut(): Promise<void> {
    if (!isKeyed() || listed.length === 0) return;
    const sealing = await keys.open();
    if ((await sealing.leaving(listed)).length === 0) return;
    await new Promise((resolve) => setTimeout(resolve, Math.random() * LONGEST_PAUSE_MS));
    // Read again: another device may have done it.
    const leaving = await sealing.leaving(listed);
    if (leaving.length > 0) await sealing.remove(leaving);
  }

  return {
    /** Does so soon. A failure is tried again with the next list of devices, and when the stream is back. */
    soon(devices: readonly Device[] = listed): void {
      listed = devices;
      if (isRunning) return;
      isRunning = true;
      void takeOut()
        .catch(() => {})
        .finally(() => {
          isRunning = false;
        });
    },
  };
}

/** Follows the ring in the leading tab: opens what waited for it, and replaces the key when a device was removed. */
export function startKeys(parts: Parts, tell: (part: Partial<Shared>) => void): void {
  const { client, keys } = parts;
  const leaving = makeLeaving(parts);
  const openKept = async (): Promise<void> => {
    if (isKeyed()) await (await keys.open()).openKept();
  };
  const openSoon = (): void => void openKept().catch(() => {});
  /** A browser without keys is told too, once it hears of keys. */
  const readDeletions = async (hasHeard: boolean): Promise<void> => {
    const sealing = hasHeard ? await keys.open() : await keys.ifKeyed();
    if (sealing !== null) tell({ deletions: await sealing.pendingDeletions() });
  };
  const readDeletionsSoon = (hasHeard: boolean): void => void readDeletions(hasHeard).catch(() => {});
  const noteRemoved = async (deviceId: string): Promise<void> => {
    if (!isKeyed()) return;
    await (await keys.open()).noteRemoved(deviceId);
    tell({ removed: deviceId });
    leaving.soon();
  };
  client.on('event', ({ name, data }) => {
    const { n, device_id, reason } = (data ?? {}) as { n?: number; device_id?: string; reason?: string };
    if (name === 'keys' && n !== undefined) {
      tell({ ringNumber: n });
      openSoon();
      readDeletionsSoon(true);
    }
    // A device whose session expired keeps its place, because it cannot fetch anything meanwhile.
    if (name === 'device:removed' && device_id !== undefined && reason !== 'expired') {
      void noteRemoved(device_id).catch(() => {});
    }
  });
  client.on('devices', (devices) => leaving.soon(devices));
  client.on('state', (state) => {
    if (state !== 'online') return;
    openSoon();
    readDeletionsSoon(false);
    leaving.soon();
  });
  keyState.subscribe(openSoon);
}
