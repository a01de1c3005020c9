import type { Redis } from '../redis/connections.ts';
import { orFault } from '../redis/faults.ts';
import type { Keys } from '../redis/keys.ts';
import type { ScriptLoader } from '../redis/scripts.ts';

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

const mapOf = (flat: string[]): Map<string, string> => {
  const map = new Map<string, string>();
  for (let i = 0; i < flat.length; i += 2) map.set(flat[i] as string, flat[i + 1] as string);
  return map;
};

const ACCOUNTS_SECONDS = 7 * 86_400;

/** Means nothing to who hears it: it is the number of listeners that is asked for. */
export const ANYBODY_THERE = '?';

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
  const renew = scripts.load('lease-renew.lua', import.meta.url);
  const reap = scripts.load('lease-reap.lua', import.meta.url);
  const addToSet = scripts.load('account-add.lua', import.meta.url);
  const table = [keys.replicas, keys.reaping];
  const withRevocations = [...table, keys.revokedVersion];

  /** This replica's id, and accounts that could not be added to its set; added again with the beats. */
  const mine = { id: '', owed: new Set<string>() };

  const add = (replicaId: string, account: string) =>
    addToSet([keys.accounts(replicaId)], [account, ACCOUNTS_SECONDS]).catch(() => {
      // Under an id that it had before nobody needs the set.
      if (replicaId === mine.id) mine.owed.add(account);
    });

  function addOwed(): void {
    for (const account of [...mine.owed].slice(0, ADD_AT_ONCE)) {
      mine.owed.delete(account);
      void add(mine.id, account);
    }
  }

  return {
    async start(replicaId: string): Promise<void> {
      mine.id = replicaId;
      mine.owed.clear();
      await orFault(redis.hset(keys.replicas, replicaId, 1));
    },

    async renew(replicaId: string): Promise<LeaseTable> {
      const [renewed, counters, reaping, revocations, at] = (await renew(withRevocations, [replicaId])) as [
        string,
        string[],
        string[],
        string,
        string,
      ];
      addOwed();
      const maps = { counters: mapOf(counters), reaping: mapOf(reaping) };
      return { ...maps, renewed: renewed === '1', revocations, atMs: Number(at) };
    },

    /** Claims a dead replica whose counter still is `counter`. */
    async claim(deadId: string, counter: string, reaperId: string): Promise<boolean> {
      const [claimed] = await reap(table, [deadId, counter, '', reaperId]);
      return claimed === '1';
    },

    /** Claims a replica that a dead (or exited) reaper has left; `''`: one that nobody reaps and that has no lease. */
    async takeOver(deadId: string, deadReaper: string, reaperId: string): Promise<boolean> {
      const [claimed] = await reap(table, [deadId, '', deadReaper, reaperId]);
      return claimed === '1';
    },

    async finishReaping(deadId: string): Promise<void> {
      await orFault(redis.hdel(keys.reaping, deadId));
      await orFault(redis.del(keys.accounts(deadId)));
    },

    /** Publishes to the replica's own channel, to learn whether it still hears. */
    async nonce(replicaId: string, number: number): Promise<void> {
      await orFault(publish(keys.bus(replicaId), `n\n${number}`));
    },

    /** Whether anybody listens on the channel of this replica, who may be alive without a lease. */
    async isHeard(replicaId: string): Promise<boolean> {
      return (await orFault(publish(keys.bus(replicaId), ANYBODY_THERE))) > 0;
    },

    /**
     * Never rejects: the set lies in another slot than the account, and an account whose primary is there must not
     * wait for that of the set. Until it succeeds a reaper would not find the account.
     */
    async addAccount(replicaId: string, account: string): Promise<void> {
      await add(replicaId, account);
    },

    async dropAccount(replicaId: string, account: string): Promise<void> {
      if (replicaId === mine.id) mine.owed.delete(account);
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
