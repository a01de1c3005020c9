import { orFault, storeNowMs } from '../../../shared/service-kit/redis/faults.ts';
import type { Db } from '../redis/db.ts';
import { accountErase, jobPutOff, revokedAdd } from './scripts.ts';

export interface Tombstone {
  account: string;
  deviceId: string;
  /** Unix ms of the store. */
  atMs: number;
}

const memberOf = ({ account, deviceId }: Pick<Tombstone, 'account' | 'deviceId'>): string => `${account} ${deviceId}`;

function tombstonesOf(flat: string[]): Tombstone[] {
  const tombstones: Tombstone[] = [];
  for (let i = 0; i < flat.length; i += 2) {
    const [account = '', deviceId = ''] = (flat[i] as string).split(' ');
    tombstones.push({ account, deviceId, atMs: Number(flat[i + 1]) });
  }
  return tombstones;
}

interface SessionStoreParts extends Db {
  /** Writes the account into the index of due jobs. */
  scheduleDue: (account: string, delayMs: number) => Promise<void>;
}

/** Makes the store of tombstones, and of the jobs of removed devices. */
export function makeSessionStore({ redis, scripts, keys, scheduleDue }: SessionStoreParts) {
  const addScript = scripts.define(revokedAdd);
  const putOffScript = scripts.define(jobPutOff);
  const eraseScript = scripts.define(accountErase);

  /** Makes a job due in `delayMs`. The index already has the account: the job is running, or `schedule` calls this. */
  async function putOff(account: string, job: string, delayMs: number): Promise<void> {
    await putOffScript({ due: keys.due(account) }, { job, delayMs });
  }

  return {
    nowMs: () => storeNowMs(redis),
    putOff,

    /** Writes a job that is due in `delayMs`: the index first, so that it runs even if this replica dies. */
    async schedule(account: string, job: string, delayMs: number): Promise<void> {
      await scheduleDue(account, delayMs);
      await putOff(account, job, delayMs);
    },

    /** Writes tombstones; `atMs` 0 means now. Existing ones keep their time. Resolves to the list's new version, and now. */
    addTombstones: (tombstones: Tombstone[]): Promise<{ version: string; nowMs: number }> =>
      addScript(
        { revoked: keys.revoked, version: keys.revokedVersion },
        { tombstones: tombstones.flatMap((tombstone) => [memberOf(tombstone), tombstone.atMs]) },
      ),

    /** Resolves to whether the device has a tombstone since `overMs`. Only a sign-out trims the list. */
    async isTombstoned(account: string, deviceId: string, overMs: number): Promise<boolean> {
      const atMs = await orFault(redis, () => redis.zscore(keys.revoked, memberOf({ account, deviceId })));
      return atMs !== null && Number(atMs) >= overMs;
    },

    /** Resolves to the tombstones since `sinceMs`, and to how many there are since `overMs`. */
    async tombstones(sinceMs: number, overMs: number): Promise<{ tombstones: Tombstone[]; count: number }> {
      const flat = orFault(redis, () =>
        redis.zrangebyscore(keys.revoked, Math.max(sinceMs, overMs), '+inf', 'WITHSCORES'),
      );
      const [found, count] = await Promise.all([
        flat,
        orFault(redis, () => redis.zcount(keys.revoked, overMs, '+inf')),
      ]);
      return { tombstones: tombstonesOf(found), count };
    },

    /** Removes a finished job. */
    async settle(account: string, job: string): Promise<void> {
      await orFault(redis, () => redis.zrem(keys.due(account), job));
    },

    /** Resolves to the channels of all replicas with a lease, and of those that hold a stream of the account. */
    async channelsOf(account: string): Promise<string[]> {
      const [replicas, rows] = await Promise.all([
        orFault(redis, () => redis.hkeys(keys.replicas)),
        orFault(redis, () => redis.hvals(keys.routes(account))),
      ]);
      return [...replicas.map(keys.bus), ...rows.map((row) => row.split('\n', 1)[0] as string)];
    },

    /** Resolves to whether the device has an open stream. */
    async hasStream(account: string, deviceId: string): Promise<boolean> {
      const rows = (await orFault(redis, () => redis.hvals(keys.routes(account)))).map((row) => row.split('\n'));
      return rows.some((row) => row[1] === deviceId && row.at(-1) === '0');
    },

    /** Removes all of an account except open routes and records of transfers. Resolves to false if transfers are left. */
    async erase(u: string): Promise<boolean> {
      // No position of a stream depends on these, so they need not be removed in the same step as the rest.
      await orFault(redis, () => redis.del(keys.offers(u), keys.relayFiles(u), keys.invites(u)));
      const { transfers } = await eraseScript(keys.inAccount(u), {});
      return transfers === 0;
    },
  };
}

export type SessionStore = ReturnType<typeof makeSessionStore>;
