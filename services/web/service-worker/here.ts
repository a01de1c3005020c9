import type { DBSchema } from 'idb';
import { answered, openDatabase } from '../open-database.ts';

/** The content that a notification may show. */
export type Preview = 'none' | 'sender' | 'full';

/** The user's choice of notifications in this browser, and the last confirmation of the service. */
export interface PushChoice {
  account: string;
  deviceId: string;
  isWanted: boolean;
  preview: Preview;
  /** The subscription at the service, and the digest of the endpoint and keys that it was made with. */
  told: { subscriptionId: string; digest: string } | null;
  /** The identity headers of identity mode `dev`. Otherwise the cookie identifies the user. */
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

/**
 * Runs work in the database that page and worker share, because the service worker has no `localStorage`. The start of the
 * app waits for it, but not for ever: an open database may keep its answer to itself, too.
 */
async function within<T>(work: (database: Awaited<ReturnType<typeof open>>) => Promise<T>): Promise<T> {
  const database = await open();
  try {
    return await answered(work(database));
  } finally {
    database.close();
  }
}

/** Reads a value; undefined if the browser stores nothing. */
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
    // The next start compares again, and tells the service again.
  }
}

/** Returns the account whose app this browser shows; null: nobody is signed in; undefined: no page has stored it yet. */
export const accountHere = (): Promise<string | null | undefined> => read('account');
export const noteAccount = (account: string | null): Promise<void> => write('account', account);

/** Returns the account whose keys this browser may use; null: it has none, or the digits were not compared yet. */
export const keyedAccount = async (): Promise<string | null> => (await read<string | null>('keyed')) ?? null;
export const noteKeyedAccount = (account: string | null): Promise<void> => write('keyed', account);

/**
 * Returns the choice; undefined: the user has not turned notifications on or off since the app began to store the choice.
 */
export const pushChoice = (): Promise<PushChoice | undefined> => read('push');
export const keepPushChoice = (choice: PushChoice): Promise<void> => write('push', choice);

/** How many items are remembered that a notification has told of. */
const MOST_TOLD = 64;

/** Notes that a notification tells of an item. False: one did before, because both a push and a page may tell. */
export async function noteTold(item: string): Promise<boolean> {
  const told = (await read<string[]>('told')) ?? [];
  if (told.includes(item)) return false;
  await write('told', [...told, item].slice(-MOST_TOLD));
  return true;
}
