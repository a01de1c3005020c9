import { orFault } from '../../../shared/service-kit/redis/faults.ts';
import type { Db } from '../redis/db.ts';
import { BUS, payloadOf } from '../redis/bus/payloads.ts';
import { leaseReap, leaseRenew, leaseStart } from './scripts.ts';

/** How often a replica renews its lease. */
export const BEAT_MS = 2_000;

/** Longest normal time between two readings. After a longer one the store was away, or this process stood still. */
export const READ_GAP_MS = 3_000;

/** The counters of all replicas, and the reaper of each dead one. */
export type LeaseTable = ReturnType<typeof leaseRenew.read>;

interface LeaseStoreParts extends Db {
  /** Settings of this replica that must agree on all replicas, as JSON. */
  settings: string;
  /** Publishes a payload; resolves to the number of subscribers that heard it. */
  publish: (channel: string, payload: string) => Promise<number>;
}

/** Makes the store of the leases of all replicas, the claims of reapers, and the payloads that find out who listens. */
export function makeLeaseStore({ redis, scripts, keys, settings, publish }: LeaseStoreParts) {
  const startScript = scripts.define(leaseStart);
  const renewScript = scripts.define(leaseRenew);
  const reapScript = scripts.define(leaseReap);
  const table = {
    replicas: keys.replicas,
    reaping: keys.reaping,
    revokedVersion: keys.revokedVersion,
    settings: keys.settings,
  };
  const reap = async (claim: Parameters<typeof reapScript>[1]): Promise<boolean> =>
    (await reapScript(table, claim)).claimed;

  return {
    /** Takes a lease. */
    async start(replicaId: string): Promise<void> {
      await startScript(table, { replica: replicaId, settings });
    },

    /**
     * Returns the settings that replicas wrote with their leases, as JSON; null for a replica of an older version,
     * which wrote none.
     */
    settingsOf: (ids: readonly string[]): Promise<(string | null)[]> =>
      orFault(redis, () => redis.hmget(keys.settings, ...ids)),

    /** Renews the lease, if it is still there, and reads all of them. */
    renew: (replicaId: string): Promise<LeaseTable> => renewScript(table, { replica: replicaId }),

    /**
     * Claims a dead replica whose counter is still `counter`. Resolves to false when it is not, or another reaper was
     * first.
     */
    claim: (dead: string, counter: string, newReaper: string) => reap({ dead, counter, reaper: '', newReaper }),

    /**
     * Claims a replica that a dead (or exited) reaper has left; with `''` a replica without a reaper and without a
     * lease.
     */
    takeOver: (dead: string, reaper: string, newReaper: string) => reap({ dead, counter: '', reaper, newReaper }),

    /** Ends the claim of a replica whose accounts are all reconciled. */
    async finishReaping(deadId: string): Promise<void> {
      await orFault(redis, () => redis.hdel(keys.reaping, deadId));
    },

    /** Publishes to the replica's own channel, to find out whether it still hears. */
    async nonce(replicaId: string, number: number): Promise<void> {
      await orFault(redis, () => publish(keys.bus(replicaId), payloadOf('nonce', number)));
    },

    /** Resolves to whether anybody listens on the channel of this replica, which may be alive without a lease. */
    async isHeard(replicaId: string): Promise<boolean> {
      return (await orFault(redis, () => publish(keys.bus(replicaId), BUS.probe))) > 0;
    },
  };
}

export type LeaseStore = ReturnType<typeof makeLeaseStore>;
