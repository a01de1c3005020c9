import { type DBSchema, openDB } from 'idb';
import { newId } from '../new-id.ts';

/** What the share sheet has handed over, until somebody says to whom it goes. */
export interface Share {
  id: string;
  at: number;
  text: string;
  files: File[];
}

interface Schema extends DBSchema {
  shares: { key: string; value: Share };
}

/** What nobody has sent for a day is dropped. */
const KEPT_MS = 24 * 3_600_000;

const open = () =>
  openDB<Schema>('baton-shares', 1, {
    upgrade(database) {
      database.createObjectStore('shares', { keyPath: 'id' });
    },
  });

export async function keepShare(share: Omit<Share, 'id' | 'at'>): Promise<string> {
  const database = await open();
  const now = Date.now();
  for (const old of await database.getAll('shares')) {
    if (now - old.at > KEPT_MS) await database.delete('shares', old.id);
  }
  const id = newId();
  await database.put('shares', { ...share, id, at: now });
  database.close();
  return id;
}

export async function findShare(id: string): Promise<Share | null> {
  const database = await open();
  const share = await database.get('shares', id);
  database.close();
  return share ?? null;
}

export async function dropShare(id: string): Promise<void> {
  const database = await open();
  await database.delete('shares', id);
  database.close();
}
