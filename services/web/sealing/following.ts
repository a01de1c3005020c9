import type { Device } from '../../../shared/client/index.ts';
import type { Parts } from '../engine/parts.ts';
import { repeated } from '../engine/repeated.ts';
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
  const openSoon = repeated(async () => {
    if (isKeyed()) await (await keys.open()).openKept();
  });
  let hasHeard = false;
  /** A browser without keys also learns of it, once it hears of keys. */
  const readDeletionsSoon = repeated(async () => {
    const sealing = hasHeard ? await keys.open() : await keys.ifKeyed();
    if (sealing !== null) tell({ deletions: await sealing.pendingDeletions() });
  });
  /** The devices of removals that are not noted yet. No other event tells of them. */
  const removed = new Set<string>();
  const noteRemovedSoon = repeated(async () => {
    for (const deviceId of removed) {
      if (isKeyed()) {
        await (await keys.open()).noteRemoved(deviceId);
        tell({ removed: deviceId });
      }
      removed.delete(deviceId);
    }
    takeOutSoon();
  });
  client.on('event', ({ name, data }) => {
    const { n, device_id, reason } = (data ?? {}) as { n?: number; device_id?: string; reason?: string };
    if (name === 'keys' && n !== undefined) {
      tell({ ringNumber: n, keysHeard: shared.peek().keysHeard + 1 });
      openSoon();
      // The ring may have a device that was removed before it came.
      takeOutSoon();
      hasHeard = true;
      readDeletionsSoon();
    }
    // A device whose session expired keeps its place, because it cannot fetch anything meanwhile.
    if (name === 'device:removed' && device_id !== undefined && reason !== 'expired') {
      removed.add(device_id);
      noteRemovedSoon();
    }
  });
  client.on('devices', (devices) => {
    listed = devices;
    takeOutSoon();
  });
  client.on('state', (state) => {
    if (state !== 'online') return;
    openSoon();
    readDeletionsSoon();
    takeOutSoon();
  });
  keyState.subscribe(openSoon);
}
