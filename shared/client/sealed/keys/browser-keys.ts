import type { KeyRecord, KeyStore } from './key-store.ts';

const STORE = 'keys';
const OWN = 'device';

const settled = <T>(request: IDBRequest<T>): Promise<T> =>
  new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error ?? new Error('IndexedDB did not answer'));
  });

async function open(name: string): Promise<IDBDatabase> {
  const request = indexedDB.open(name, 1);
  request.onupgradeneeded = () => request.result.createObjectStore(STORE);
  const database = await settled(request);
  // Another tab removes or upgrades the database, and this one must not block it.
  database.onversionchange = () => database.close();
  return database;
}

/** Runs one transaction; resolves when the browser reports that it is on the disk. */
async function within<T>(
  name: string,
  mode: IDBTransactionMode,
  work: (store: IDBObjectStore) => IDBRequest<T>,
): Promise<T> {
  const database = await open(name);
  try {
    const transaction = database.transaction(STORE, mode, { durability: 'strict' });
    const done = new Promise<void>((resolve, reject) => {
      transaction.oncomplete = () => resolve();
      transaction.onabort = () => reject(transaction.error ?? new Error('IndexedDB gave up'));
    });
    const request = work(transaction.objectStore(STORE));
    await done;
    return request.result;
  } finally {
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
      ((await within<unknown>(name, 'readonly', (store) => store.get(OWN))) as KeyRecord | undefined) ?? null,
    async save(record) {
      await within(name, 'readwrite', (store) => store.put(record, OWN));
    },
    async clear() {
      await within(name, 'readwrite', (store) => store.delete(OWN));
    },
    lock: (work) => navigator.locks.request(name, work),
  };
}
