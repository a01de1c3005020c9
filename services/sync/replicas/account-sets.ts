import { orFault } from '../../../shared/service-kit/redis/faults.ts';
import type { Db } from '../redis/db.ts';
import { accountAdd } from './scripts.ts';

/** Most accounts that are tried again with one beat. */
const ADD_AT_ONCE = 200;

/**
 * Makes the store of the accounts of which each replica holds streams. A reaper reconciles them after the replica's
 * death.
 */
export function makeAccountSets({ redis, scripts, keys }: Db) {
  const addScript = scripts.define(accountAdd);
  /** Accounts that could not be added, by the id of this replica at that time. */
  const pending = new Map<string, Set<string>>();
  /** Accounts that were added under the present id and not dropped since. A promise is a call under way. */
  let added = { replicaId: '', accounts: new Map<string, Promise<void> | null>() };

  const addedOf = (replicaId: string): Map<string, Promise<void> | null> => {
    if (added.replicaId !== replicaId) added = { replicaId, accounts: new Map() };
    return added.accounts;
  };

  /**
   * Adds an account. Never rejects. The set is in another slot than the account. If the primary of the set does not
   * answer within the command timeout, the stream opens although the account is not in the set. A later beat then adds
   * the account, and until that beat a reaper would not find it.
   */
  function add(replicaId: string, account: string): Promise<void> {
    const accounts = addedOf(replicaId);
    const adding = addScript({ accounts: keys.accounts(replicaId) }, { account }).then(
      () => {
        if (accounts.get(account) === adding) accounts.set(account, null);
      },
      () => {
        if (accounts.get(account) === adding) accounts.delete(account);
        pending.set(replicaId, (pending.get(replicaId) ?? new Set()).add(account));
      },
    );
    accounts.set(account, adding);
    return adding;
  }

  return {
    add,

    /**
     * Adds an account, unless it is known to be in the set; then returns null. So a stream that opens saves the trip if
     * another stream of its account has made it.
     */
    ensure(replicaId: string, account: string): Promise<void> | null {
      const adding = addedOf(replicaId).get(account);
      return adding === undefined ? add(replicaId, account) : adding;
    },

    /** Forgets what was added, because the store may have lost accounts. */
    recheck(): void {
      added.accounts.clear();
    },

    /**
     * Adds the accounts that could not be added. Called with each beat. Nobody needs the sets under this replica's
     * former ids.
     */
    addPending(replicaId: string): void {
      for (const id of pending.keys()) if (id !== replicaId) pending.delete(id);
      const accounts = pending.get(replicaId) ?? new Set();
      for (const account of [...accounts].slice(0, ADD_AT_ONCE)) {
        accounts.delete(account);
        void add(replicaId, account);
      }
    },

    async drop(replicaId: string, account: string): Promise<void> {
      pending.get(replicaId)?.delete(account);
      if (replicaId === added.replicaId) added.accounts.delete(account);
      await orFault(redis, () => redis.srem(keys.accounts(replicaId), account));
    },

    /** Returns at most `count` accounts, at random. */
    async some(replicaId: string, count: number): Promise<string[]> {
      return await orFault(redis, () => redis.srandmember(keys.accounts(replicaId), count));
    },

    async forget(replicaId: string): Promise<void> {
      await orFault(redis, () => redis.del(keys.accounts(replicaId)));
    },
  };
}

export type AccountSets = ReturnType<typeof makeAccountSets>;
