import { type DBSchema, type IDBPDatabase, openDB, type OpenDBCallbacks } from 'idb';
import { untilLeft } from './left-page.ts';

/** A browser may keep the answer to itself: while another page holds an older version, or for no reason. */
const ANSWERS_WITHIN_MS = 5_000;
/** If one answer did not come, the wait is shorter until one comes. */
const THEN_WITHIN_MS = 500;

let withinMs = ANSWERS_WITHIN_MS;

/** The errors of databases by their names, and the codes of what is said of them. Another tab that takes a lock aborts too. */
const OF_STORAGE: Readonly<Record<string, string>> = {
  TimeoutError: 'storage',
  QuotaExceededError: 'storage_full',
  InvalidStateError: 'storage_failed',
  UnknownError: 'storage_failed',
  AbortError: 'storage_failed',
  TransactionInactiveError: 'storage_failed',
};

/** Returns the code of an error of the browser. Only a database that does not answer is called that. */
export const storageCodeOf = (error: unknown): string | undefined =>
  error instanceof DOMException ? OF_STORAGE[error.name] : undefined;

/** Makes the error of a database that does not answer. */
export const silence = (): DOMException =>
  new DOMException('The browser does not answer for its database', 'TimeoutError');

/** Resolves to the answer of the browser's databases; rejects if that takes too long. */
export async function answered<T>(work: Promise<T>): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      withinMs = THEN_WITHIN_MS;
      reject(silence());
    }, withinMs);
  });
  try {
    const answer = await Promise.race([work, late]);
    withinMs = ANSWERS_WITHIN_MS;
    return answer;
  } finally {
    clearTimeout(timer);
  }
}

/** Returns the database with transactions that end with the page: its own, and those that the shortcuts of idb begin on it. */
function leavable<S extends DBSchema>(database: IDBPDatabase<S>): IDBPDatabase<S> {
  const begin = (...given: Parameters<typeof database.transaction>) => untilLeft(() => database.transaction(...given));
  return new Proxy(database, {
    get(target, name) {
      if (name === 'transaction') return begin;
      if (name === 'close') return () => target.close();
      return Reflect.get(target, name) as unknown;
    },
  });
}

/** Opens version 1 of a database. Rejects if the browser keeps none, or does not say. */
export async function openDatabase<S extends DBSchema>(
  name: string,
  callbacks: OpenDBCallbacks<S>,
): Promise<IDBPDatabase<S>> {
  const opening = openDB<S>(name, 1, callbacks);
  try {
    return leavable(await answered(opening));
  } catch (error) {
    // A database that opens after all would keep others from changing it.
    opening.then((database) => database.close()).catch(() => {});
    throw error;
  }
}
