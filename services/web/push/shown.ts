import type { History } from '../history/history.ts';
import { inNotificationTurn } from './notification-list.ts';
import { registerWorker } from './registration.ts';

type BadgeNavigator = Navigator & {
  setAppBadge?: (count: number) => Promise<void>;
  clearAppBadge?: () => Promise<void>;
};

export function showBadge(count: number): void {
  const badge = navigator as BadgeNavigator;
  const changed = count > 0 ? badge.setAppBadge?.(count) : badge.clearAppBadge?.();
  changed?.catch(() => {});
}

async function shown(): Promise<Notification[]> {
  const registration = await registerWorker();
  return registration === null ? [] : inNotificationTurn(() => registration.getNotifications());
}

/**
 * Closes the notifications of items that were read. The worker shows a notification for each push, because browsers demand
 * that.
 */
export async function closeRead(history: History): Promise<void> {
  const all = await shown();
  if (all.length === 0) return;
  const unread = new Set((await history.threads()).filter((thread) => thread.unread > 0).map(({ id }) => id));
  for (const notification of all) {
    const { id } = (notification.data ?? {}) as { id?: unknown };
    const item = typeof id === 'string' && id !== '' ? await history.byRef(id) : undefined;
    if (item !== undefined && !unread.has(item.thread)) notification.close();
  }
}

export async function closeAll(): Promise<void> {
  for (const notification of await shown()) notification.close();
  showBadge(0);
}
