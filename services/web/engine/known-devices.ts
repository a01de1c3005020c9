import type { Device } from '../../../shared/client/index.ts';
import type { History } from '../history/history.ts';
import { shared } from './shared-state.ts';

/* The devices of the account as the service last listed them, for a page that is opened without network. */
const KEY = 'known-devices';

export const keepDevices = (history: History, devices: readonly Device[]): Promise<void> =>
  history.settings.set(KEY, devices);

/** Shows the known devices as offline until the service lists them. */
export async function recallDevices(history: History): Promise<void> {
  const known = await history.settings.get<readonly Device[] | null>(KEY, null);
  if (known === null || shared.peek().listed === 'now') return;
  const devices = known.map((device) => ({ ...device, online: false }));
  shared.value = { ...shared.peek(), devices, listed: 'before' };
}
