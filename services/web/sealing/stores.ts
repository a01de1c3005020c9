import { browserKeys } from '../../../shared/client/sealed.ts';
import { BatonClientError } from '../../../shared/client/index.ts';
import type { KeptGrant, SealingStores } from '../../../shared/client/sealing.ts';
import { keptWords } from '../kept-words.ts';
import { type Held, HELD_ALONE, inLock } from '../locks.ts';
import { answered, storageCodeOf } from '../open-database.ts';
import { DATABASES } from './databases.ts';
import { GRANT } from './key-state.ts';

function failed(cause: unknown): BatonClientError {
  const code = storageCodeOf(cause) ?? 'storage_failed';
  return new BatonClientError(code, 'The keys of this browser cannot be read', { action: 'retry', cause });
}

/** Waits for the database of the keys only for a time. Each of its errors passes: the same work may succeed later. */
async function passing<T>(work: Promise<T>): Promise<T> {
  try {
    return await answered(work);
  } catch (cause) {
    throw failed(cause);
  }
}

/**
 * Does work with the lock of the keys, and answers for it. Another tab takes it only from a page that does not move. Such a
 * page must not write keys later that the other tab has removed, so `checkHeld` rejects then.
 */
function makeKeysLock(name: string) {
  let held: Held = HELD_ALONE;
  return {
    async checkHeld(): Promise<void> {
      if (!(await held.isOurs())) throw failed(new Error('Another tab has taken the lock'));
    },
    lock: <T>(work: () => Promise<T>): Promise<T> =>
      inLock(name, async (now) => {
        held = now;
        try {
          return await work();
        } finally {
          if (held === now) held = HELD_ALONE;
        }
      }).catch((error: unknown) => {
        // The lock was taken away.
        throw error instanceof DOMException ? failed(error) : error;
      }),
  };
}

/** Keys in a database that always answers. Callers hold locks of all tabs meanwhile, so none may wait for ever. */
function answeringKeys(name: string): SealingStores['keys'] {
  const keys = browserKeys(name);
  const { checkHeld, lock } = makeKeysLock(name);
  return {
    ...keys,
    load: () => passing(keys.load()),
    async save(record) {
      await checkHeld();
      await passing(keys.save(record));
    },
    lock,
    clear: () => passing(keys.clear()),
  };
}

/**
 * Where this browser keeps its keys: in IndexedDB, not extractable. A grant is small, and is kept for a moment only. The
 * secret in it opens nothing without the keys.
 */
export function makeStores(): SealingStores {
  return {
    keys: answeringKeys(DATABASES.keys),
    asking: answeringKeys(DATABASES.asking),
    grant: {
      load: () => Promise.resolve(JSON.parse(keptWords.get(GRANT) ?? 'null') as KeptGrant | null),
      save: (grant) => Promise.resolve(keptWords.set(GRANT, JSON.stringify(grant))),
      clear: () => Promise.resolve(keptWords.set(GRANT, null)),
    },
  };
}

/** Asks the browser not to clear the keys. Nobody waits for it: it may ask the user first, and refuse. */
export const persistKeys = (): void => void navigator.storage?.persist?.().catch(() => false);
