import type { Deletion, DeletionOf, MaybeProof, MemberProof } from '../../../shared/contract/modules/keys.ts';
import { BatonError } from '../../../shared/contract/errors.ts';
import type { Caller } from '../identity/caller.ts';
import type { DeletionStore } from './deletion-store.ts';
import { proofOf, type Proofs } from './proofs.ts';
import type { KeyringStore } from './store.ts';

interface DeletionsParts {
  keyringStore: KeyringStore;
  store: DeletionStore;
  proofs: Proofs;
}

/**
 * Makes the rules for removing the rings of an account, and for erasing the account: by a member's signature, or a day
 * after an announcement to all devices. Otherwise a stolen session without keys could remove the rings at once, and put
 * a first ring of its own.
 */
export function makeDeletions({ keyringStore, store, proofs }: DeletionsParts) {
  async function announce(caller: Caller, of: DeletionOf): Promise<Deletion | null> {
    // An announcement counts against the rate like any other change.
    await keyringStore.head(caller);
    const at = await store.announce(caller.account, of);
    return at === null ? null : { of, at };
  }

  return {
    /** Removes the rings, or announces that without a proof. Throws `keys_conflict`, `invalid_request`, `rate_limited`. */
    async remove(caller: Caller, asked: MaybeProof): Promise<Deletion | null> {
      const proof = proofOf(asked);
      if (proof === null) return announce(caller, 'keys');
      const hash = await proofs.check(caller, proof, { label: 'baton/1 keys delete' });
      if (hash !== null) await store.dropSigned(caller.account, hash);
      return null;
    },

    /** Cancels every announced deletion. Throws the errors of `remove`, and `not_found` without a ring. */
    async keep(caller: Caller, proof: MemberProof): Promise<void> {
      const { n, deletions } = await keyringStore.page(caller.account, proof.n);
      const more = deletions.map(({ at }) => String(at));
      const hash = await proofs.check(caller, proof, { label: 'baton/1 keys keep', more });
      if (n === 0 || hash === null) throw new BatonError('not_found');
      await store.keep(caller.account, hash);
    },

    /** Resolves to null if the account may be erased: it has no ring, or a member signed. Else announces the erasure. */
    async allowErase(caller: Caller, asked: MaybeProof): Promise<Deletion | null> {
      if (!(await keyringStore.has(caller.account))) return null;
      const proof = proofOf(asked);
      if (proof === null) return announce(caller, 'account');
      await proofs.check(caller, proof, { label: 'baton/1 erase' });
      return null;
    },

    /** Runs a job that may be due. `erase` may be repeated. Resolves to whether the job was carried out. */
    async runDue(account: string, job: string, erase: (account: string) => Promise<unknown>): Promise<boolean> {
      if (job !== 'keys:account') return store.dropDue(account);
      const isDue = await store.isEraseDue(account);
      if (isDue === null) await store.settle(account, job);
      if (isDue) await erase(account);
      return isDue === true;
    },

    dropErased: store.dropErased,
  };
}

export type Deletions = ReturnType<typeof makeDeletions>;
