import { keyState } from '../sealing/key-state.ts';
import { openChannel } from './tabs.ts';

/**
 * For this long, an older tab that comes up again as the same version is not reloaded again, so that it does not reload
 * without end.
 */
const PAUSE_MS = 10_000;

/**
 * Reloads tabs of a version that knows no keys, if this browser has some: they acknowledge what they cannot open, and send
 * unencrypted. Such a tab reloads when it hears that the session is over, and finds it again. `onOlder` is called each time.
 */
export function reloadOlderTabs(account: string, onOlder: () => void): void {
  const channel = openChannel(`baton-${account}`);
  let last = -PAUSE_MS;
  const reload = (): void => {
    if (keyState.peek().kind === 'none' || performance.now() - last < PAUSE_MS) return;
    last = performance.now();
    channel?.postMessage({ type: 'signed-out', reason: 'expired' });
    onOlder();
  };
  channel?.addEventListener('message', reload);
  // Calls it at once, too.
  keyState.subscribe(reload);
}
