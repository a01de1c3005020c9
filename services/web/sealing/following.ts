import type { Parts } from '../engine/parts.ts';
import type { Shared } from '../engine/shared-state.ts';
import { keyState } from './key-state.ts';

/** A device that hears of a removal waits for up to this time, so that not all replace the key at once. */
const LONGEST_PAUSE_MS = 10_000;

const isKeyed = (): boolean => keyState.peek().kind === 'keyed';

/** Follows the ring in the leading tab: opens what waited for it, and replaces the key when a device was removed. */
export function startKeys({ client, keys }: Parts, tell: (part: Partial<Shared>) => void): void {
  const openKept = async (): Promise<void> => {
    if (isKeyed()) await (await keys.open()).openKept();
  };
  const openSoon = (): void => void openKept().catch(() => {});
  const replaceKey = async (deviceId: string): Promise<void> => {
    await new Promise((resolve) => setTimeout(resolve, Math.random() * LONGEST_PAUSE_MS));
    if (isKeyed()) await (await keys.open()).remove([deviceId]);
  };
  client.on('event', ({ name, data }) => {
    const { n, device_id, reason } = (data ?? {}) as { n?: number; device_id?: string; reason?: string };
    if (name === 'keys' && n !== undefined) {
      tell({ ringNumber: n });
      openSoon();
    }
    // A device whose session expired keeps its place, because it cannot fetch anything meanwhile.
    if (name === 'device:removed' && device_id !== undefined && reason !== 'expired') {
      void replaceKey(device_id).catch(() => {});
    }
  });
  client.on('state', (state) => {
    if (state === 'online') openSoon();
  });
  keyState.subscribe(openSoon);
}
