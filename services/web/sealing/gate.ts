import { BatonClientError } from '../../../shared/client/index.ts';
import { keptWords } from '../kept-words.ts';
import type { AppSealing, SealingParts } from './app-sealing.ts';
import { GRANT, keyState } from './key-state.ts';

/** Makes the way to the code that seals, which loads with its first use. */
export function makeGate(parts: SealingParts) {
  let loaded: Promise<AppSealing> | null = null;
  const open = (): Promise<AppSealing> => {
    loaded ??= import('./app-sealing.ts')
      .then(({ makeAppSealing }) => makeAppSealing(parts))
      .catch((error: unknown) => {
        loaded = null;
        // Otherwise what waits to be sent would count as refused.
        throw new BatonClientError('network', 'The code that seals cannot be loaded', {
          action: 'retry',
          cause: error,
        });
      });
    return loaded;
  };
  return {
    open,
    /** Null: this browser has no keys, and goes on without. */
    ifKeyed: async (): Promise<AppSealing | null> =>
      keyState.peek().kind === 'none' && keptWords.get(GRANT) === null ? null : open(),
  };
}

export type Gate = ReturnType<typeof makeGate>;
