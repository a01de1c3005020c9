import { openHistory } from '../history/database.ts';
import { accountHere } from './here.ts';

/** The part of a notification's data that says what it tells of; count 0: no items. */
export interface Told {
  id: string;
  count: number;
}

interface Kept {
  /** The items in the threads of this browser that nobody has read. */
  unread: number;
  has: (ref: string) => boolean;
}

const NOTHING: Kept = { unread: 0, has: () => false };

/** Reads the history of this browser, as far as it knows these items. */
async function keptOf(refs: readonly string[]): Promise<Kept> {
  const account = await accountHere();
  if (account === null || account === undefined) return NOTHING;
  const database = await openHistory(account, { mustExist: true });
  try {
    const threads = await database.getAll('threads');
    const found = await Promise.all(refs.map((ref) => database.getKeyFromIndex('items', 'ref', ref)));
    const known = new Set(refs.filter((_, i) => found[i] !== undefined));
    return { unread: threads.reduce((sum, thread) => sum + thread.unread, 0), has: (ref) => known.has(ref) };
  } finally {
    database.close();
  }
}

/**
 * Returns how many items nobody has read. A push counts only those of one sender that wait at the service, so the counts of
 * all shown notifications are added to what the threads of this browser have. Items that are in a thread are counted there.
 */
export async function unreadOf(notifications: readonly Partial<Told>[]): Promise<number> {
  const kept = await keptOf(notifications.flatMap(({ id = '' }) => (id === '' ? [] : [id]))).catch(() => NOTHING);
  return notifications.reduce((sum, { id = '', count = 0 }) => (kept.has(id) ? sum : sum + count), kept.unread);
}
