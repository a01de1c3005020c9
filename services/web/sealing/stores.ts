import { browserKeys } from '../../../shared/client/sealed.ts';
import type { KeptGrant, SealingStores } from '../../../shared/client/sealing.ts';
import { keptWords } from '../kept-words.ts';
import { DATABASES } from './databases.ts';
import { GRANT } from './key-state.ts';

/**
 * Where this browser keeps its keys: in IndexedDB, not extractable. A grant is small, and is kept for a moment only. The
 * secret in it opens nothing without the keys.
 */
export function makeStores(): SealingStores {
  return {
    keys: browserKeys(DATABASES.keys),
    asking: browserKeys(DATABASES.asking),
    grant: {
      load: () => Promise.resolve(JSON.parse(keptWords.get(GRANT) ?? 'null') as KeptGrant | null),
      save: (grant) => Promise.resolve(keptWords.set(GRANT, JSON.stringify(grant))),
      clear: () => Promise.resolve(keptWords.set(GRANT, null)),
    },
  };
}

/** Asks the browser not to clear the keys. Nobody waits for it: it may ask the user first, and refuse. */
export const persistKeys = (): void => void navigator.storage?.persist?.().catch(() => false);
