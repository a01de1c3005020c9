import type { KeyRecord, KeyStore } from './key-store.ts';

const STORE = 'keys';
const OWN = 'device';

const settled = <T>(request: IDBRequest<T>): Promise<T> =>
  new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error ?? new Error('IndexedDB did not answer'));
  });

/** Opens the database. Without `makes` it resolves to null if there is none, so that a read leaves no empty one behind. */
async function open(name: string, makes: boolean): Promise<IDBDatabase | null> {
  const request = indexedDB.open(name, 1);
  request.onupgradeneeded = () => {
    if (makes) request.result.createObjectStore(STORE);
    else request.transaction?.abort();
  };
  const database = await settled(request).catch((error: unknown) => {
    if (!makes && (error as DOMException).name === 'AbortError') return null;
    throw error;
  });
  if (database === null) return null;
  // Another tab removes or upgrades the database, and this one must not block it.
  database.onversionchange = () => database.close();
  return database;
}

/**
 * Aborts the transaction when the page is left and the browser may keep it for the way back. WebKit keeps an open transaction
 * with it, and no later page reads the keys (WebKitGTK 2.50).
 */
function endWithPage(transaction: IDBTransaction, signal: AbortSignal): void {
  const left = ({ persisted }: PageTransitionEvent) => {
    try {
      if (persisted) transaction.abort();
    } catch {
      // The browser commits it already, and needs the page no more.
    }
  };
  globalThis.addEventListener?.('pagehide', left, { signal });
}

/**
 * Runs one transaction; resolves when the browser reports that it is on the disk. Without `makes` it resolves to undefined
 * if there is no database.
 */
async function within<T>(
  { name, mode, makes = false }: { name: string; mode: IDBTransactionMode; makes?: boolean },
  work: (store: IDBObjectStore) => IDBRequest<T>,
): Promise<T | undefined> {
  const database = await open(name, makes);
  if (database === null) return undefined;
  const leave = new AbortController();
  try {
    const transaction = database.transaction(STORE, mode, { durability: 'strict' });
    endWithPage(transaction, leave.signal);
    const done = new Promise<void>((resolve, reject) => {
      transaction.oncomplete = () => resolve();
      transaction.onabort = () => reject(transaction.error ?? new Error('IndexedDB gave up'));
    });
    const request = work(transaction.objectStore(STORE));
    await done;
    return request.result;
  } finally {
    leave.abort();
    database.close();
  }
}

/**
 * Keeps the keys in IndexedDB, for any number of tabs. They are not extractable: no script can read them, and only the
 * browser uses them. Call `navigator.storage.persist()` first, so that the browser does not clear them.
 */
export function browserKeys(name = 'baton-keys'): KeyStore {
  return {
    extractable: false,
    load: async () =>
      ((await within<unknown>({ name, mode: 'readonly' }, (store) => store.get(OWN))) as KeyRecord | undefined) ?? null,
    async save(record) {
      await within({ name, mode: 'readwrite', makes: true }, (store) => store.put(record, OWN));
    },
    async clear() {
      await within({ name, mode: 'readwrite' }, (store) => store.delete(OWN));
    },
    lock: (work) => navigator.locks.request(name, work),
  };
}
