import type { Redis } from '../redis/connections.ts';
import { orFault } from '../redis/faults.ts';
import type { Keys } from '../redis/keys.ts';
import type { ScriptLoader } from '../redis/scripts.ts';
import { accountErase, revokedAdd } from './scripts.ts';

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

/** Tombstones, and what has still to be done for a removed device. */
export function makeSessionStore({ redis, scripts, keys }: { redis: Redis; scripts: ScriptLoader; keys: Keys }) {
  const addScript = scripts.define(revokedAdd);
  const eraseScript = scripts.define(accountErase);

  return {
    /** `atMs` 0: now. One that is there already keeps its time. Resolves to the new version of the list, and now. */
    bury: (tombstones: Tombstone[]): Promise<{ version: string; nowMs: number }> =>
      addScript(
        { revoked: keys.revoked, version: keys.revokedVersion },
        { tombstones: tombstones.flatMap((tombstone) => [memberOf(tombstone), tombstone.atMs]) },
      ),

    /** Whether it was buried since `overMs`: the list itself is shortened only when somebody is signed out. */
    async isTombstoned(account: string, deviceId: string, overMs: number): Promise<boolean> {
      const atMs = await orFault(redis.zscore(keys.revoked, memberOf({ account, deviceId })));
      return atMs !== null && Number(atMs) >= overMs;
    },

    /** Those since `sinceMs`, and how many there are since `overMs`. */
    async tombstones(sinceMs: number, overMs: number): Promise<{ tombstones: Tombstone[]; count: number }> {
      const flat = orFault(redis.zrangebyscore(keys.revoked, Math.max(sinceMs, overMs), '+inf', 'WITHSCORES'));
      const [found, count] = await Promise.all([flat, orFault(redis.zcount(keys.revoked, overMs, '+inf'))]);
      return { tombstones: tombstonesOf(found), count };
    },

    /** Writes, or puts off, what has to be done. The account must have been noted as having something due. */
    async schedule(account: string, job: string, atMs: number): Promise<void> {
      await orFault(redis.zadd(keys.due(account), atMs, job));
    },

    async settle(account: string, job: string): Promise<void> {
      await orFault(redis.zrem(keys.due(account), job));
    },

    /** Channels of the replicas that hold a stream of the account, also of one that has only just started. */
    async channelsOf(account: string): Promise<string[]> {
      const rows = await orFault(redis.hvals(keys.routes(account)));
      return rows.map((row) => row.split('\n', 1)[0] as string);
    },

    async hasStream(account: string, deviceId: string): Promise<boolean> {
      const rows = (await orFault(redis.hvals(keys.routes(account)))).map((row) => row.split('\n'));
      return rows.some((row) => row[1] === deviceId && row.at(-1) === '0');
    },

    async nowMs(): Promise<number> {
      const [seconds, micros] = await orFault(redis.time());
      return Number(seconds) * 1000 + Math.floor(Number(micros) / 1000);
    },

    /** Removes everything of an account but its open routes and its transfers. False: there are transfers. */
    async erase(u: string): Promise<boolean> {
      // What no stream reads needs not go in one step with the rest.
      await orFault(redis.del(keys.offers(u), keys.relayFiles(u)));
      const { transfers } = await eraseScript(keys.inAccount(u), {});
      return transfers === 0;
    },
  };
}

export type SessionStore = ReturnType<typeof makeSessionStore>;
