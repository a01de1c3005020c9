import { randomBytes } from 'node:crypto';
import type { Connection } from '../../../shared/service-kit/redis/connections.ts';
import { orFault, storeNowMs } from '../../../shared/service-kit/redis/faults.ts';
import type { Db } from '../redis/db.ts';
import { DUE_SHARDS } from '../redis/keys.ts';
import { scanKeys } from '../redis/scan.ts';
import { dueClaim, dueJobs, dueSchedule, dueSettle, LEASE_MS } from './scripts.ts';

/** How much later than its first job an account may be in the index: as long as a claim lasts, and a reserve. */
const LATE_MS = 2 * LEASE_MS;

/** Most accounts of a shard that are remembered because they could not be written into the index. */
const MOST_MISSED = 1_000;

export interface ClaimedAccount {
  account: string;
  /** Stamp of the last schedule, as read with the claim. */
  stamp: string;
}

interface DueStoreParts extends Pick<Db, 'scripts' | 'keys'> {
  redis: Connection;
}

/** Makes the store of the index of accounts with something due, and of the jobs of each account. */
export function makeDueStore({ redis, scripts, keys }: DueStoreParts) {
  const scheduleScript = scripts.define(dueSchedule);
  const claimScript = scripts.define(dueClaim);
  const jobsScript = scripts.define(dueJobs);
  const settleScript = scripts.define(dueSettle);
  const indexOf = (shard: number) => ({ index: keys.dueIndex(shard), stamps: keys.dueStamps(shard) });

  /**
   * Accounts that could not be written into the index. A message is accepted all the same, and has written its push. In a
   * cluster the primary of the index may be away while that of the account answers.
   */
  const missed = Array.from({ length: DUE_SHARDS }, () => new Set<string>());

  const write = (account: string, delayMs: number): Promise<unknown> => {
    const nonce = randomBytes(6).toString('base64url');
    return scheduleScript(indexOf(keys.dueShard(account)), { account, delayMs, nonce });
  };

  /** Writes the accounts of a shard that could not be written before. They are due now, because nobody knows when. */
  async function writeMissed(shard: number): Promise<void> {
    for (const account of missed[shard] ?? []) {
      await write(account, 0);
      missed[shard]?.delete(account);
    }
  }

  /** Returns whether the index lacks the account, or has it too late. Only a late one needs the second command. */
  async function isMisplaced(account: string, now: number): Promise<boolean> {
    const score = await orFault(redis, () => redis.zscore(keys.dueIndex(keys.dueShard(account)), account));
    if (score === null) return true;
    if (Number(score) <= now + LATE_MS) return false;
    const [, first] = await orFault(redis, () => redis.zrange(keys.due(account), '0', '0', 'WITHSCORES'));
    return first !== undefined && Number(score) > Math.max(Number(first), now) + LATE_MS;
  }

  return {
    shards: DUE_SHARDS,

    /**
     * Puts the account into the index. Called BEFORE the account's script writes the job. If that fails, the next claim of
     * its shard by this replica does it.
     */
    async schedule(account: string, delayMs: number): Promise<void> {
      try {
        await write(account, delayMs);
      } catch (error) {
        const accounts = missed[keys.dueShard(account)];
        if (accounts && accounts.size < MOST_MISSED) accounts.add(account);
        throw error;
      }
    },

    /**
     * Puts the account into the index for a job that is already written and that the index may have lost. Never makes
     * its time later.
     */
    async remind(account: string, delayMs: number): Promise<void> {
      await scheduleScript(indexOf(keys.dueShard(account)), { account, delayMs, nonce: '' });
    },

    /** Claims at most `count` accounts whose time has come. No other replica gets them while the claim lasts. */
    async claim(shard: number, count: number): Promise<ClaimedAccount[]> {
      await writeMissed(shard);
      const { claimed } = await claimScript(indexOf(shard), { count });
      return claimed;
    },

    /**
     * Returns a page of the due jobs, after the `passed` oldest, and the ms until the next job; null when there is
     * none.
     */
    jobs: (account: string, passed: number): Promise<{ due: string[]; nextInMs: number | null }> =>
      jobsScript(keys.inAccount(account), { passed }),

    /**
     * Yields, some at a time, the accounts with jobs that are not in the index, or too late in it. In a cluster the
     * index and the account are on different primaries, so a failover may lose the latest writes of one and not of the
     * other.
     */
    async *unindexed(): AsyncGenerator<string[]> {
      for await (const found of scanKeys(redis, keys.due('*'), 'zset')) {
        // The clocks of primaries differ by far less than what counts as late.
        const [accounts, now] = [found.map(keys.accountOf), await storeNowMs(redis)];
        const misplaced = await Promise.all(accounts.map((account) => isMisplaced(account, now)));
        yield accounts.filter((_, i) => misplaced[i]);
      }
    },

    /** Puts a claimed account back for its next job, or removes it from the index when it has none. */
    async settle({ account, stamp }: ClaimedAccount, nextInMs: number | null): Promise<void> {
      await settleScript(indexOf(keys.dueShard(account)), { account, claimedStamp: stamp, nextInMs });
    },
  };
}

export type DueStore = ReturnType<typeof makeDueStore>;
