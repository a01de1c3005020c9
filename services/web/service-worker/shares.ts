import type { DBSchema } from 'idb';
import { newId } from '../../../shared/client/new-id.ts';
import { openDatabase } from '../open-database.ts';

/** What the share sheet has handed over, until somebody says to whom it goes. */
export interface Share {
  id: string;
  /** Whose app it was handed to. */
  account: string;
  at: number;
  text: string;
  files: File[];
  /** The app's own page sent it. Else a web page may have, in the place of the share sheet. */
  isOwn: boolean;
}

interface Schema extends DBSchema {
  shares: { key: string; value: Share };
}

/** What nobody has sent for a day is dropped. */
const KEPT_MS = 24 * 3_600_000;

async function within<T>(work: (database: Awaited<ReturnType<typeof open>>) => Promise<T>): Promise<T> {
  const database = await open();
  try {
    return await work(database);
  } finally {
    database.close();
  }
}

const open = () =>
  openDatabase<Schema>('baton-shares', {
    upgrade(database) {
      database.createObjectStore('shares', { keyPath: 'id' });
    },
  });

/** Keeps the newest alone, so that nobody fills the disk. In one step: the one before stays where this one does not fit. */
export const keepShare = (share: Omit<Share, 'id' | 'at'>): Promise<string> =>
  within(async (database) => {
    const id = newId();
    const transaction = database.transaction('shares', 'readwrite');
    await Promise.all([
      transaction.store.clear(),
      transaction.store.put({ ...share, id, at: Date.now() }),
      transaction.done,
    ]);
    return id;
  });

/** Null for what is gone, too old, or another account's. */
export const findShare = (id: string, account: string): Promise<Share | null> =>
  within(async (database) => {
    const share = await database.get('shares', id);
    return share === undefined || share.account !== account || Date.now() - share.at > KEPT_MS ? null : share;
  });

export const dropShare = (id: string): Promise<void> => within((database) => database.delete('shares', id));

/** Drops what is not this account's, and what is too old; null: everything. */
export const clearShares = (account: string | null): Promise<void> =>
  within(async (database) => {
    for (const share of await database.getAll('shares')) {
      const isKept = share.account === account && Date.now() - share.at <= KEPT_MS;
      if (!isKept) await database.delete('shares', share.id);
    }
  }).catch(() => {});
