import { type Asking, makeAsking } from '../../../shared/client/sealing.ts';
import { answered } from '../open-database.ts';
import { makeStores, persistKeys } from './stores.ts';

/**
 * Makes keys for a browser that asks to be let in. Null: it cannot have any, and is let in without. `invited`: the secret of
 * an invite that it was shown.
 */
export async function askWithKeys(invited?: string): Promise<Asking | null> {
  if (!isSecureContext) return null;
  try {
    persistKeys();
    return await answered(makeAsking(makeStores(), invited));
  } catch {
    return null;
  }
}
