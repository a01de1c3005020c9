import type { Device } from '../../../shared/client/index.ts';
import type { Parts } from '../engine/parts.ts';
import { type Shared, shared } from '../engine/shared-state.ts';
import { keyState } from './key-state.ts';

const isKeyed = (): boolean => keyState.peek().kind === 'keyed';

/** Follows the ring in the leading tab: opens what waited for it, and replaces the key when a device was removed. */
export function startKeys(parts: Parts, tell: (part: Partial<Shared>) => void): void {
  const { client, keys } = parts;
  let listed: readonly Device[] = [];
  const takeOutSoon = (): void => {
    if (!isKeyed()) return;
    void keys.open().then(
      (sealing) => sealing.takeOutGone(listed),
      () => {},
    );
  };
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
    takeOutSoon();
  };
  client.on('event', ({ name, data }) => {
    const { n, device_id, reason } = (data ?? {}) as { n?: number; device_id?: string; reason?: string };
    if (name === 'keys' && n !== undefined) {
      tell({ ringNumber: n, keysHeard: shared.peek().keysHeard + 1 });
      openSoon();
      // The ring may have a device that was removed before it came.
      takeOutSoon();
      readDeletionsSoon(true);
    }
    // A device whose session expired keeps its place, because it cannot fetch anything meanwhile.
    if (name === 'device:removed' && device_id !== undefined && reason !== 'expired') {
      void noteRemoved(device_id).catch(() => {});
    }
  });
  client.on('devices', (devices) => {
    listed = devices;
    takeOutSoon();
  });
  client.on('state', (state) => {
    if (state !== 'online') return;
    openSoon();
    readDeletionsSoon(false);
    takeOutSoon();
  });
  keyState.subscribe(openSoon);
}
