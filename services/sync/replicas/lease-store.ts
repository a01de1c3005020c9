import type { Redis } from '../../server/redis/connections.ts';
import { orFault } from '../../server/redis/faults.ts';
import type { Keys } from '../redis/keys.ts';
import { BUS, payloadOf } from '../redis/bus/payloads.ts';
import type { ScriptLoader } from '../../server/redis/scripts/scripts.ts';
import { accountAdd, leaseReap, leaseRenew } from './scripts.ts';

/** Everybody's counters, and who is reaping whom. */
export interface LeaseTable {
  renewed: boolean;
  counters: Map<string, string>;
  reaping: Map<string, string>;
  /** Version of the list of revocations; '' when there is none. */
  revocations: string;
  /** By the store's clock. */
  atMs: number;
}

/** Accounts that are added again with one beat. */
const ADD_AT_ONCE = 200;

interface LeaseStoreParts {
  redis: Redis;
  scripts: ScriptLoader;
  keys: Keys;
  /** Resolves to the number of subscribers that heard it. */
  publish: (channel: string, payload: string) => Promise<number>;
}

/** The global facts of the hub: leases, reaping, and which accounts each replica holds streams of. */
export function makeLeaseStore({ redis, scripts, keys, publish }: LeaseStoreParts) {
  const renew = scripts.define(leaseRenew);
  const reap = scripts.define(leaseReap);
  const addToSet = scripts.define(accountAdd);
  const table = { replicas: keys.replicas, reaping: keys.reaping, revokedVersion: keys.revokedVersion };

  /** This replica's id, and accounts that could not be added to its set; added again with the beats. */
  const mine = { id: '', pending: new Set<string>() };

  const add = (replicaId: string, account: string) =>
    addToSet({ accounts: keys.accounts(replicaId) }, { account }).catch(() => {
      // Under an id that it had before nobody needs the set.
      if (replicaId === mine.id) mine.pending.add(account);
    });

  function addPending(): void {
    for (const account of [...mine.pending].slice(0, ADD_AT_ONCE)) {
      mine.pending.delete(account);
      void add(mine.id, account);
    }
  }

  return {
    async start(replicaId: string): Promise<void> {
      mine.id = replicaId;
      mine.pending.clear();
      await orFault(redis.hset(keys.replicas, replicaId, 1));
    },

    async renew(replicaId: string): Promise<LeaseTable> {
      const leases = await renew(table, { replica: replicaId });
      addPending();
      return leases;
    },

    /** Claims a dead replica whose counter still is `counter`. */
    async claim(deadId: string, counter: string, reaperId: string): Promise<boolean> {
      const { claimed } = await reap(table, { dead: deadId, counter, reaper: '', newReaper: reaperId });
      return claimed;
    },

    /** Claims a replica that a dead (or exited) reaper has left; `''`: one that nobody reaps and that has no lease. */
    async takeOver(deadId: string, deadReaper: string, reaperId: string): Promise<boolean> {
      const { claimed } = await reap(table, { dead: deadId, counter: '', reaper: deadReaper, newReaper: reaperId });
      return claimed;
    },

    async finishReaping(deadId: string): Promise<void> {
      await orFault(redis.hdel(keys.reaping, deadId));
      await orFault(redis.del(keys.accounts(deadId)));
    },

    /** Publishes to the replica's own channel, to learn whether it still hears. */
    async nonce(replicaId: string, number: number): Promise<void> {
      await orFault(publish(keys.bus(replicaId), payloadOf('nonce', number)));
    },

    /** Whether anybody listens on the channel of this replica, who may be alive without a lease. */
    async isHeard(replicaId: string): Promise<boolean> {
      return (await orFault(publish(keys.bus(replicaId), BUS.probe))) > 0;
    },

    /**
     * Never rejects: the set lies in another slot than the account, and an account whose primary is there must not
     * wait for that of the set. Until it succeeds a reaper would not find the account.
     */
    async addAccount(replicaId: string, account: string): Promise<void> {
      await add(replicaId, account);
    },

    async dropAccount(replicaId: string, account: string): Promise<void> {
      if (replicaId === mine.id) mine.pending.delete(account);
      await orFault(redis.srem(keys.accounts(replicaId), account));
    },

    async someAccounts(replicaId: string, count: number): Promise<string[]> {
      return await orFault(redis.srandmember(keys.accounts(replicaId), count));
    },

    async forgetAccounts(replicaId: string): Promise<void> {
      await orFault(redis.del(keys.accounts(replicaId)));
    },
  };
}

export type LeaseStore = ReturnType<typeof makeLeaseStore>;
