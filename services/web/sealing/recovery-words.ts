import { BatonClientError } from '../../../shared/client/index.ts';
import {
  type Keyring,
  keysOfWords,
  makeWords,
  memberOf,
  publicKeysOf,
  WORDS_ID,
} from '../../../shared/client/sealed.ts';
import { inLock } from '../locks.ts';
import { keepKeyState, keyState } from './key-state.ts';
import type { OwnRing } from './own-ring.ts';
import { persistKeys } from './stores.ts';

/** The recovery words of the account, as its ring has them. */
export interface WordsOfAccount {
  /** When they were made. Null: an earlier version made them, which did not note the time. */
  readonly at: number | null;
  readonly areDue: boolean;
}

/** Words that are shown to the user. The account does not have them yet. */
export interface WordsDraft {
  readonly words: readonly string[];
  readonly sig: string;
  /** The keyring when they were made. */
  readonly seen: Keyring;
}

/** After these errors no ring with this browser can have come to the service. */
const REFUSED = ['bad_words', 'bad_ring', 'words_over', 'keys_gone', 'not_lasting'];

const sigIn = ({ ring }: Keyring): string | undefined => memberOf(ring, WORDS_ID)?.sig;

/** Makes, renews and uses the recovery words of the account. */
export const makeRecoveryWords = (ring: OwnRing) => {
  /** Runs the recovery of one tab at a time, because all tabs ask with the same keys. */
  const recover = (words: string): Promise<void> =>
    inLock('baton-recovering', async () => {
      persistKeys();
      const before = keyState.peek();
      // A reload in the middle must not send without encryption what the ring of this browser could seal.
      keepKeyState({ kind: 'lost' });
      try {
        ring.take(await ring.sealing().recovery.recover(words, { kind: 'web' }));
        keepKeyState({ kind: 'keyed' });
      } catch (error) {
        if (error instanceof BatonClientError && REFUSED.includes(error.code)) keepKeyState(before);
        throw error;
      }
    });

  return {
    /** Puts this browser into the ring by the words. */
    recover,

    /** Returns what the ring says of recovery words; null if the account has none. */
    async wordsOfAccount(): Promise<WordsOfAccount | null> {
      const keyring = await ring.current();
      if (sigIn(keyring) === undefined) return null;
      return { at: keyring.ring.body.words?.at ?? null, areDue: await ring.sealing().recovery.areDue(keyring) };
    },

    /** Makes words to show. They are nowhere but in the result. */
    async draftWords(): Promise<WordsDraft> {
      const seen = await ring.current();
      const words = await makeWords();
      const { sig } = await publicKeysOf(await keysOfWords(words));
      return { words: words.split(' '), sig, seen };
    },

    /** Tells whether other words were made since, so that these can no longer count. */
    async isReplaced({ sig, seen }: WordsDraft): Promise<boolean> {
      return ![sig, sigIn(seen)].includes(sigIn(await ring.current()));
    },

    /** Makes the words count. Throws `words_moved` if other words were made since. */
    async putWords({ words, seen }: WordsDraft): Promise<void> {
      await ring.sealing().recovery.makeWords({ words: words.join(' '), seen });
      ring.forget();
    },

    async renewWords(words: string): Promise<void> {
      ring.take(await ring.sealing().recovery.renewWords(words));
    },
  };
};
