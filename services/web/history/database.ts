import { type DBSchema, deleteDB, type IDBPDatabase, openDB } from 'idb';

/** A file of a transfer, as it is shown. */
export interface ShownFile {
  index: number;
  name: string;
  size: number;
  type: string | null;
}

interface Entry {
  /** Of this browser. */
  id: string;
  /** The message or the transfer at the service; empty before it has one. */
  ref: string;
  /** The other device. */
  thread: string;
  at: number;
  isMine: boolean;
}

export interface MessageItem extends Entry {
  kind: 'message';
  text: string;
  state: 'sending' | 'sent' | 'delivered' | 'failed';
  error: string | null;
}

export interface FilesItem extends Entry {
  kind: 'files';
  /** The first of them. */
  files: ShownFile[];
  fileCount: number;
  totalBytes: number;
  state: 'preparing' | 'offered' | 'active' | 'done' | 'failed' | 'cancelled' | 'refused';
  error: string | null;
  /** Where the bytes are that were received. `downloaded`: handed to the browser, and here until somebody removes them. */
  kept: 'nothing' | 'here' | 'downloaded' | 'saved' | 'removed';
  /** The files, by their numbers, that were handed over. */
  saved?: number[];
}

export type Item = MessageItem | FilesItem;

/** The other device of a thread, also when it is gone from the account. */
export interface Thread {
  id: string;
  name: string;
  lastAt: number;
  unread: number;
  draft: string;
}

interface Schema extends DBSchema {
  items: { key: string; value: Item; indexes: { ref: string; place: [string, number] } };
  threads: { key: string; value: Thread };
  /** What a transfer is sent from, where it is small enough to be kept for a reload. */
  sources: { key: string; value: { transferId: string; files: { file: File; name: string }[] } };
  settings: { key: string; value: unknown };
}

export type Database = IDBPDatabase<Schema>;

const nameOf = (userId: string): string => `baton-${userId}`;

/** The history of one account on this browser. */
export function openHistory(userId: string): Promise<Database> {
  return openDB<Schema>(nameOf(userId), 1, {
    upgrade(database) {
      const items = database.createObjectStore('items', { keyPath: 'id' });
      items.createIndex('ref', 'ref');
      items.createIndex('place', ['thread', 'at']);
      database.createObjectStore('threads', { keyPath: 'id' });
      database.createObjectStore('sources', { keyPath: 'transferId' });
      database.createObjectStore('settings');
    },
    blocking(_now, _wanted, event) {
      (event.target as IDBDatabase).close();
    },
  });
}

export const removeHistory = (userId: string): Promise<void> => deleteDB(nameOf(userId));
