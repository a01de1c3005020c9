import { type DBSchema, deleteDB, type IDBPDatabase } from 'idb';
import { answered, openDatabase } from '../open-database.ts';

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
  /** Small pictures of what was sent from here, or the text itself. */
  previews?: Blob[];
}

export type Item = MessageItem | FilesItem;

/** A copy of a small file, or what a file that was dropped can be read by again. */
export interface KeptSource {
  file: File | null;
  name: string;
  handle?: FileSystemFileHandle;
}

/** The other device of a thread, also when it is gone from the account. */
export interface Thread {
  id: string;
  name: string;
  lastAt: number;
  unread: number;
}

interface Schema extends DBSchema {
  items: { key: string; value: Item; indexes: { ref: string; place: [string, number] } };
  threads: { key: string; value: Thread };
  /** What a transfer is sent from; under the id of its item as long as it was not offered. */
  sources: { key: string; value: { transferId: string; files: KeptSource[] } };
  settings: { key: string; value: unknown };
}

export type Database = IDBPDatabase<Schema>;

interface Store {
  /** Null: the key is told beside the value. */
  keyPath: string | null;
  indexes: Readonly<Record<string, string | string[]>>;
}

export type StoreName = 'items' | 'threads' | 'sources' | 'settings';

/** The stores of a history, wherever it is kept. */
export const STORES: Readonly<Record<StoreName, Store>> = {
  items: { keyPath: 'id', indexes: { ref: 'ref', place: ['thread', 'at'] } },
  threads: { keyPath: 'id', indexes: {} },
  sources: { keyPath: 'transferId', indexes: {} },
  settings: { keyPath: null, indexes: {} },
};

const nameOf = (userId: string): string => `baton-${userId}`;

/** The history of one account on this browser. Rejects where the browser keeps none. */
export function openHistory(userId: string): Promise<Database> {
  return openDatabase<Schema>(nameOf(userId), {
    upgrade(database) {
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
