import { type DBSchema, deleteDB, type IDBPDatabase } from 'idb';
import { answered, openDatabase } from '../open-database.ts';

/** A file of a transfer as it is shown. */
export interface ShownFile {
  index: number;
  name: string;
  size: number;
  type: string | null;
  /** When the sender says that it was last changed. */
  modified_at?: number;
}

interface Entry {
  /** An id that only this browser uses. */
  id: string;
  /** The id of the message or the transfer at the service; empty before it has one. */
  ref: string;
  /** The other device. */
  thread: string;
  at: number;
  isMine: boolean;
}

export interface MessageItem extends Entry {
  kind: 'message';
  /** Empty while it is sealed. */
  text: string;
  /** The sealed content, as long as this browser cannot open it. */
  sealed?: string;
  /** Its protection on the way, if this browser has keys. `refused`: it was not genuine, and is not shown. */
  lock?: 'sealed' | 'open' | 'refused';
  state: 'sending' | 'sent' | 'delivered' | 'failed';
  error: string | null;
}

export interface FilesItem extends Entry {
  kind: 'files';
  /** The first files. */
  files: ShownFile[];
  fileCount: number;
  totalBytes: number;
  state: 'preparing' | 'offered' | 'active' | 'done' | 'failed' | 'cancelled' | 'refused';
  error: string | null;
  /** Where the received bytes are. `downloaded`: handed to the browser, and stored here until the user removes them. */
  kept: 'nothing' | 'here' | 'downloaded' | 'saved' | 'removed';
  /** The numbers of the files that were handed over. */
  saved?: number[];
  /** Small pictures of sent files, or the text itself. */
  previews?: Blob[];
  /**
   * Their protection on the way, if this browser has keys. `waits`: their names cannot be opened yet. `refused`: they were
   * not genuine, or can never be opened.
   */
  lock?: 'sealed' | 'open' | 'waits' | 'refused';
  /** The key of sent files, with which another page resumes them; as long as they are under way. */
  fileKey?: string;
}

export type Item = MessageItem | FilesItem;

/** A copy of a small file, or the handle by which a dropped file can be read again. */
export interface KeptSource {
  file: File | null;
  name: string;
  handle?: FileSystemFileHandle;
}

/** The other device of a thread, even when it has left the account. */
export interface Thread {
  id: string;
  name: string;
  lastAt: number;
  unread: number;
}

interface Schema extends DBSchema {
  items: { key: string; value: Item; indexes: { ref: string; place: [string, number] } };
  threads: { key: string; value: Thread };
  /** The files that a transfer is sent from, under the id of its item until it is offered. */
  sources: { key: string; value: { transferId: string; files: KeptSource[] } };
  settings: { key: string; value: unknown };
}

export type Database = IDBPDatabase<Schema>;

interface Store {
  /** Null: the key is given separately from the value. */
  keyPath: string | null;
  indexes: Readonly<Record<string, string | string[]>>;
}

export type StoreName = 'items' | 'threads' | 'sources' | 'settings';

/** The stores of a history, on disk or in memory. */
export const STORES: Readonly<Record<StoreName, Store>> = {
  items: { keyPath: 'id', indexes: { ref: 'ref', place: ['thread', 'at'] } },
  threads: { keyPath: 'id', indexes: {} },
  sources: { keyPath: 'transferId', indexes: {} },
  settings: { keyPath: null, indexes: {} },
};

/** Returns the name of the database of a history. */
export const nameOf = (userId: string): string => `baton-${userId}`;

/**
 * Opens the history of one account in this browser. Rejects if the browser keeps none. `mustExist`: it also rejects if there
 * is no history, and makes none.
 */
export function openHistory(userId: string, { mustExist = false } = {}): Promise<Database> {
  return openDatabase<Schema>(nameOf(userId), {
    upgrade(database, _from, _to, transaction) {
      if (mustExist) {
        transaction.done.catch(() => {});
        return transaction.abort();
      }
      for (const [name, { keyPath, indexes }] of Object.entries(STORES)) {
        const store = (database as unknown as IDBPDatabase).createObjectStore(name, { keyPath });
        for (const [index, path] of Object.entries(indexes)) store.createIndex(index, path);
      }
    },
    blocking(_now, _wanted, event) {
      (event.target as IDBDatabase).close();
    },
  });
}

export const removeHistory = (userId: string): Promise<void> => answered(deleteDB(nameOf(userId)));
