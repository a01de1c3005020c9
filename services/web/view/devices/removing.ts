import type { App } from '../../engine/app.ts';
import { keyState } from '../../sealing/key-state.ts';

/** Takes devices out of the ring before they are removed, so that they read nothing that is encrypted from then on. */
export async function takeFromRing({ keys }: App, ids: readonly string[]): Promise<void> {
  const { kind, isGuest } = keyState.peek();
  // A device that is here for an hour may remove others. Its keys change no ring, so a device with the key of the account does.
  if (kind === 'keyed' && !isGuest) await (await keys.open()).remove(ids);
}

/** Removes a device, and takes the key of the account from it. */
export async function removeDevice(app: App, id: string): Promise<void> {
  await takeFromRing(app, [id]);
  await app.client.devices.remove(id);
}
