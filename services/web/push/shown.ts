import { type BatonClient, BatonClientError } from '../../../shared/client/index.ts';
import type { Parts } from '../engine/parts.ts';
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

const OVER = ['DONE', 'FAILED', 'CANCELLED'];
/** How long the state of a transfer counts before the service is asked again. */
const KNOWN_MS = 60_000;
/** When the service was asked about a transfer. */
const askedAt = new Map<string, number>();

/** Tells whether a notification is about files that are no longer offered. They may never have come to the history. */
async function isOver(
  { transfers }: Pick<BatonClient, 'transfers'>,
  { tag }: Notification,
  id: string,
): Promise<boolean> {
  const isOfFiles = tag === 'transfer' || tag.startsWith('transfer ');
  if (!isOfFiles || Date.now() - (askedAt.get(id) ?? 0) < KNOWN_MS) return false;
  askedAt.set(id, Date.now());
  try {
    return OVER.includes((await transfers.get(id)).state);
  } catch (error) {
    if (error instanceof BatonClientError && error.code === 'not_found') return true;
    askedAt.delete(id);
    return false;
  }
}

/** Tells whether a notification is about files that have arrived. Their offer was read before. */
const isOfArrival = ({ tag }: Notification): boolean => tag === 'arrived' || tag.startsWith('arrived ');

/**
 * Closes the notifications of items that were read, and of files that are no longer offered. The worker shows a notification
 * for each push, because browsers demand that.
 */
export async function closeRead({ client, history }: Pick<Parts, 'client' | 'history'>): Promise<void> {
  const all = await shown();
  if (all.length === 0) return;
  const isSeen = document.visibilityState === 'visible' && document.hasFocus();
  const unread = new Set((await history.threads()).filter((thread) => thread.unread > 0).map(({ id }) => id));
  for (const notification of all) {
    const { id } = (notification.data ?? {}) as { id?: unknown };
    if (typeof id !== 'string' || id === '') continue;
    const item = await history.byRef(id);
    const isRead = item === undefined ? await isOver(client, notification, id) : !unread.has(item.thread);
    if (isOfArrival(notification) && !isSeen) continue;
    if (isRead) notification.close();
  }
}

export async function closeAll(): Promise<void> {
  for (const notification of await shown()) notification.close();
  showBadge(0);
}
