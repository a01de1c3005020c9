import { LIMITS } from '../../../shared/contract/limits.ts';
import type { DeletionOf } from '../../../shared/contract/modules/keys.ts';
import type { Redis } from '../../../shared/service-kit/redis/connections.ts';
import { orFault } from '../../../shared/service-kit/redis/faults.ts';
import type { ScriptLoader } from '../../../shared/service-kit/redis/scripts/scripts.ts';
import type { Keys } from '../redis/keys.ts';
import { keyringAnnounce, keyringDrop, keyringKeep } from './scripts.ts';
import { conflict } from './store.ts';

interface DeletionStoreParts {
  redis: Redis;
  scripts: ScriptLoader;
  keys: Keys;
  /** Writes the account into the index of due things. */
  scheduleDue: (account: string, delayMs: number) => Promise<void>;
}

/** The end of a keyring, and what is announced of it. Throws `keys_conflict` as the store of the keyring. */
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
    /** Resolves to when it is carried out; null: there are no rings. The account is in the index of due things before. */
    async announce(account: string, what: DeletionOf): Promise<number | null> {
      await scheduleDue(account, LIMITS.deletionSeconds * 1_000 + 100);
      const { atMs } = await announceScript(keys.inAccount(account), { what });
      return atMs;
    },

    /** A member of the ring with this hash has signed it. */
    dropSigned: (account: string, hash: string) => drop(account, 'signed', hash),

    /** False: it was cancelled, or its time has not come. */
    dropDue: (account: string) => drop(account, 'due', ''),

    /** The account is erased. */
    dropErased: (account: string) => drop(account, 'erased', ''),

    async keep(account: string, hash: string): Promise<void> {
      const done = await keepScript(keys.inAccount(account), { hash });
      if (done.outcome === 'moved') throw conflict(done.n);
    },

    /** Whether the time has come at which the account is erased; null: that was cancelled. */
    async isEraseDue(account: string): Promise<boolean | null> {
      const [at, [seconds]] = await Promise.all([
        orFault(redis, () => redis.hget(keys.keyring(account), 'deletion:account')),
        orFault(redis, () => redis.time()),
      ]);
      return at === null ? null : Number(at) <= Number(seconds) * 1_000;
    },

    /** Removes a job that has nothing to do. */
    async settle(account: string, job: string): Promise<void> {
      await orFault(redis, () => redis.zrem(keys.due(account), job));
    },
  };
}

export type DeletionStore = ReturnType<typeof makeDeletionStore>;
