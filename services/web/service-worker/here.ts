import type { DBSchema } from 'idb';
import { openDatabase } from '../open-database.ts';

/** What a notification may show. */
export type Preview = 'none' | 'sender' | 'full';

/** What somebody wants of notifications in this browser, and what the service has confirmed last. */
export interface PushChoice {
  account: string;
  deviceId: string;
  isWanted: boolean;
  preview: Preview;
  /** The subscription at the service, and the digest of the endpoint and keys that it was made with. */
  told: { subscriptionId: string; digest: string } | null;
  /** Identity mode `dev`: what says who asks. Elsewhere the cookie does. */
  headers: Record<string, string>;
}

interface Schema extends DBSchema {
  here: { key: string; value: unknown };
}

const open = () =>
  openDatabase<Schema>('baton-here', {
    upgrade(database) {
      database.createObjectStore('here');
    },
  });

/** The service worker has no `localStorage`: what page and worker both have to know is in this database. */
async function within<T>(work: (database: Awaited<ReturnType<typeof open>>) => Promise<T>): Promise<T> {
  const database = await open();
  try {
    return await work(database);
  } finally {
    database.close();
  }
}

/** Where the browser keeps nothing, nothing is known. */
async function read<T>(key: string): Promise<T | undefined> {
  try {
    return (await within((database) => database.get('here', key))) as T | undefined;
  } catch {
    return undefined;
  }
}

async function write(key: string, value: unknown): Promise<void> {
  try {
    await within((database) => database.put('here', value, key));
  } catch {
    // The next start compares again, and tells the service once more.
  }
}

/** Whose app this browser shows; null: nobody is signed in; undefined: no page has said so yet. */
export const accountHere = (): Promise<string | null | undefined> => read('account');
export const noteAccount = (account: string | null): Promise<void> => write('account', account);

/** Undefined: nobody has turned notifications on or off since this is kept. */
export const pushChoice = (): Promise<PushChoice | undefined> => read('push');
export const keepPushChoice = (choice: PushChoice): Promise<void> => write('push', choice);
