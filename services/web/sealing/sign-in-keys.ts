import { type Asking, makeAsking } from '../../../shared/client/sealing.ts';
import { makeStores, persistKeys } from './stores.ts';

/** Makes keys for a browser that asks to be let in. Null: it cannot have any, and is let in without. */
export async function askWithKeys(): Promise<Asking | null> {
  if (!isSecureContext) return null;
  try {
    await persistKeys();
    return await makeAsking(makeStores());
  } catch {
    return null;
  }
}
