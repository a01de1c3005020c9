import { BatonError } from '../../../shared/contract/errors.ts';
import type { Caller } from '../identity/caller.ts';
import { type Proofs, ringInForce } from './proofs.ts';
import { checkFollows, guestsOf, ringOf } from './ring.ts';
import { parseSigned, refused } from './signed-text.ts';
import { type Changed, conflict, type KeyringStore } from './store.ts';

interface KeyringParts {
  store: KeyringStore;
  proofs: Proofs;
  /** The name of this installation, as in `/api/me`. */
  service: string;
  /** Called when a ring or a list of guests comes into force. */
  onWritten: (what: 'ring' | 'guests') => void;
}

interface Written extends Changed {
  n: number;
}

/** Makes the rules of an account's rings, which say whose keys belong to it. Only members change them. */
export function makeKeyring({ store, proofs, service, onWritten }: KeyringParts) {
  return {
    page: store.page,

    /**
     * Puts a ring. `replaces` is the number of the ring in force that the caller knows. Throws `keys_conflict`,
     * `invalid_request`, `body_too_large`, `rate_limited`.
     */
    async put(caller: Caller, sent: string, replaces: number): Promise<Written> {
      const text = parseSigned(sent, 'ring');
      const ring = ringOf(text, caller, service);
      const { n } = ring;
      if (n !== replaces + 1) throw refused('ring/n', `must be ${replaces + 1}, one more than If-Match`);
      const head = await store.head(caller);
      const isAgain = head.n === n && head.hash === text.hash;
      if (head.n !== replaces && !isAgain) throw conflict(head.n);
      if (!isAgain) {
        const before = head.n === 0 ? null : ringInForce(head);
        checkFollows(ring, before);
        // A member of the first ring signs that ring itself.
        const members = before?.ring.members ?? ring.members;
        const by = before === null ? 'one of its members' : `a member of ring ${before.n}`;
        await proofs.checkSigned(caller, text, { label: 'ring', members, by });
      }
      const replaced = isAgain ? ring.prev_hash : head.hash;
      const written = { n, hash: text.hash, text: sent, replaces: replaced };
      const changed = await store.put(caller, written);
      if (!isAgain) onWritten('ring');
      return { n, ...changed };
    },

    /**
     * Puts a list of guests. `replaces` is the SHA-256 of the only list that may be replaced, '' for none; null replaces any
     * list. Throws the errors of `put`, and `not_found` without a ring.
     */
    async putGuests(caller: Caller, sent: string, replaces: string | null): Promise<Written> {
      const text = parseSigned(sent, 'guests');
      const list = guestsOf(text);
      const head = await store.head(caller);
      const { n } = head;
      if (n === 0) throw new BatonError('not_found');
      if (list.n !== n) throw conflict(n);
      const { ring, hash: ringHash } = ringInForce(head);
      await proofs.checkSigned(caller, text, { label: 'guests', members: ring.members, by: `a member of ring ${n}` });
      const written = { ringHash, hash: text.hash, text: sent, replaces };
      const changed = await store.putGuests(caller, written);
      onWritten('guests');
      return { n, ...changed };
    },
  };
}

export type Keyring = ReturnType<typeof makeKeyring>;
