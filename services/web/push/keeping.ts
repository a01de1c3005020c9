import type { Parts } from '../engine/parts.ts';
import { repeated } from '../engine/repeated.ts';
import type { Tabs } from '../engine/tabs.ts';
import { onWorkerMessage } from './registration.ts';
import type { PushState } from './push.ts';

const MEND = 'mend-push';
/** The states after which the same comparison may end otherwise. */
const OPEN: readonly PushState[] = ['unknown', 'broken'];

/** Calls `listener` when the user gives or takes away the permission. Returns a function that ends it. */
export function onPermissionChange(listener: () => void): () => void {
  const ended = new AbortController();
  navigator.permissions
    ?.query({ name: 'notifications' })
    .then((permission) => permission.addEventListener('change', listener, { signal: ended.signal }))
    .catch(() => {});
  return () => ended.abort();
}

/**
 * Repairs the subscription in the leading tab: when the stream is open, again after a failure, and whenever the browser has
 * lost or replaced it since. Its code is not part of the first load, because nobody waits for it.
 */
export function keepPush(parts: Parts): void {
  const { client, tabs } = parts;
  let isCompared = false;
  let permission: NotificationPermission | null = null;
  const mend = repeated(async () => {
    const { isIntact, mendPush } = await import('./push.ts');
    if (client.state !== 'online') return;
    // Requests are made only for a difference that the browser shows.
    if (isCompared && (await isIntact(parts, permission))) return;
    isCompared = !OPEN.includes(await mendPush(parts));
    permission = globalThis.Notification?.permission ?? null;
  });
  client.on('state', (state) => state === 'online' && mend());
  addEventListener('online', mend);
  tabs.command(MEND, mend);
  onPermissionChange(mend);
  onWorkerMessage(({ data }: MessageEvent<{ type?: string }>) => data.type === 'subscription' && mend());
}

/** Asks the leading tab to look at the subscription when the user comes back to this tab. */
export function mendWhenSeen(tabs: Tabs): void {
  document.addEventListener('visibilitychange', () => {
    if (document.visibilityState === 'visible') void tabs.ask(MEND).catch(() => {});
  });
}
