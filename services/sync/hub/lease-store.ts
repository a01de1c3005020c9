import type { Redis } from '../redis/connections.ts';
import type { Keys } from '../redis/keys.ts';
import type { ScriptLoader } from '../redis/scripts.ts';

/** Everybody's counters, and who is reaping whom. */
export interface LeaseTable {
  renewed: boolean;
  counters: Map<string, string>;
  reaping: Map<string, string>;
}

const mapOf = (flat: string[]): Map<string, string> => {
  const map = new Map<string, string>();
  for (let i = 0; i < flat.length; i += 2) map.set(flat[i] as string, flat[i + 1] as string);
  return map;
};

const ACCOUNTS_SECONDS = 86_400;

interface LeaseStoreParts {
  redis: Redis;
  scripts: ScriptLoader;
  keys: Keys;
}

/** The global facts of the hub: leases, reaping, and which accounts each replica holds streams of. */
export function makeLeaseStore({ redis, scripts, keys }: LeaseStoreParts) {
  const renew = scripts.load('lease-renew.lua', import.meta.url);
  const reap = scripts.load('lease-reap.lua', import.meta.url);
  const table = [keys.replicas, keys.reaping];

  return {
    async start(replicaId: string): Promise<void> {
      await redis.hset(keys.replicas, replicaId, 1);
    },

    async renew(replicaId: string): Promise<LeaseTable> {
      const [renewed, counters, reaping] = (await renew(table, [replicaId])) as [string, string[], string[]];
      return { renewed: renewed === '1', counters: mapOf(counters), reaping: mapOf(reaping) };
    },

    /** Claims a dead replica whose counter still is `counter`. */
    async claim(deadId: string, counter: string, reaperId: string): Promise<boolean> {
      const [claimed] = await reap(table, [deadId, counter, '', reaperId]);
      return claimed === '1';
    },

    /** Claims a replica that a dead (or exited) reaper has left. */
    async takeOver(deadId: string, deadReaper: string, reaperId: string): Promise<boolean> {
      const [claimed] = await reap(table, [deadId, '', deadReaper, reaperId]);
      return claimed === '1';
    },

    async finishReaping(deadId: string): Promise<void> {
      await redis.hdel(keys.reaping, deadId);
      await redis.del(keys.accounts(deadId));
    },

    /** Publishes to the replica's own channel, to learn whether it still hears. */
    async nonce(replicaId: string, text: string): Promise<void> {
      await redis.publish(keys.bus(replicaId), `n\n${text}`);
    },

    async addAccount(replicaId: string, account: string): Promise<void> {
      const key = keys.accounts(replicaId);
      await redis.pipeline().sadd(key, account).expire(key, ACCOUNTS_SECONDS).exec();
    },

    async dropAccount(replicaId: string, account: string): Promise<void> {
      await redis.srem(keys.accounts(replicaId), account);
    },

    async someAccounts(replicaId: string, count: number): Promise<string[]> {
      return await redis.srandmember(keys.accounts(replicaId), count);
    },

    async forgetAccounts(replicaId: string): Promise<void> {
      await redis.del(keys.accounts(replicaId));
    },
  };
}

export type LeaseStore = ReturnType<typeof makeLeaseStore>;
