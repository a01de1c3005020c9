import { LIMITS } from '../../../shared/contract/limits.ts';
import type { DeletionOf } from '../../../shared/contract/modules/keys.ts';
import { orFault, storeNowMs } from '../../../shared/service-kit/redis/faults.ts';
import type { Db } from '../redis/db.ts';
import { keyringAnnounce, keyringDrop, keyringKeep } from './scripts.ts';
import { conflict } from './store.ts';

interface DeletionStoreParts extends Db {
  /** Writes the account into the index of due jobs. */
  scheduleDue: (account: string, delayMs: number) => Promise<void>;
}

/** Makes the store of announced and actual removals of a keyring. It throws `keys_conflict` like the keyring's store. */
export function makeDeletionStore({ redis, scripts, keys, scheduleDue }: DeletionStoreParts) {
  const announceScript = scripts.define(keyringAnnounce);
  const dropScript = scripts.define(keyringDrop);
  const keepScript = scripts.define(keyringKeep);

  async function drop(account: string, why: 'signed' | 'due' | 'erased', hash: string): Promise<boolean> {
    const done = await dropScript(keys.inAccount(account), { why, hash });
    if (done.outcome === 'moved') throw conflict(done.n);
    return done.outcome === 'dropped';
  }

  return {
    /** Announces a removal, with the account in the index of due jobs first. Resolves to its time; null without rings. */
    async announce(account: string, what: DeletionOf): Promise<number | null> {
      await scheduleDue(account, LIMITS.deletionSeconds * 1_000 + 100);
      const { atMs } = await announceScript(keys.inAccount(account), { what });
      return atMs;
    },

    /** Removes the rings, because a member of the ring with this hash signed that. */
    dropSigned: (account: string, hash: string) => drop(account, 'signed', hash),

    /** Removes the rings if that is due. Resolves to false if it was cancelled or is not due yet. */
    dropDue: (account: string) => drop(account, 'due', ''),

    /** Removes the rings of an account that is erased. */
    dropErased: (account: string) => drop(account, 'erased', ''),

    async keep(account: string, hash: string): Promise<void> {
      const done = await keepScript(keys.inAccount(account), { hash });
      if (done.outcome === 'moved') throw conflict(done.n);
    },

    /** Resolves to whether the erasure of the account is due; null if it was cancelled. */
    async isEraseDue(account: string): Promise<boolean | null> {
      const at = await orFault(redis, () => redis.hget(keys.keyring(account), 'deletion:account'));
      return at === null ? null : Number(at) <= (await storeNowMs(redis));
    },

    /** Removes a job that has nothing to do. */
    async settle(account: string, job: string): Promise<void> {
      await orFault(redis, () => redis.zrem(keys.due(account), job));
    },
  };
}

export type DeletionStore = ReturnType<typeof makeDeletionStore>;
