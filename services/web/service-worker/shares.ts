import type { DBSchema } from 'idb';
import { newId } from '../../../shared/client/new-id.ts';
import { answered, openDatabase } from '../open-database.ts';

/** A share of the share sheet, until the user chooses a receiver. */
export interface Share {
  id: string;
  /** The account whose app got it. */
  account: string;
  at: number;
  text: string;
  files: File[];
  /** True: the app's own page sent it. Otherwise a web page may have sent it instead of the share sheet. */
  isOwn: boolean;
}

interface Schema extends DBSchema {
  shares: { key: string; value: Share };
}

/** A share that is not sent within a day is dropped. */
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

/**
 * Keeps only the newest share, so that nobody can fill the disk. It does so in one step, so that the earlier one stays if
 * this one does not fit.
 */
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

/** Finds a share; null if it is gone, too old, or belongs to another account. */
export const findShare = (id: string, account: string): Promise<Share | null> =>
  within(async (database) => {
    const share = await database.get('shares', id);
    return share === undefined || share.account !== account || Date.now() - share.at > KEPT_MS ? null : share;
  });

export const dropShare = (id: string): Promise<void> => within((database) => database.delete('shares', id));

/** Drops the shares of other accounts, and old ones; null: all shares. The start of the app does not wait for it for ever. */
export const clearShares = (account: string | null): Promise<void> =>
  answered(
    within(async (database) => {
      for (const share of await database.getAll('shares')) {
        const isKept = share.account === account && Date.now() - share.at <= KEPT_MS;
        if (!isKept) await database.delete('shares', share.id);
      }
    }),
  ).catch(() => {});
