import { randomBytes } from 'node:crypto';
import type { Connection } from '../../server/redis/connections.ts';
import { orFault } from '../../server/redis/faults.ts';
import { DUE_SHARDS, type Keys } from '../redis/keys.ts';
import { scanKeys } from '../redis/scan.ts';
import type { ScriptLoader } from '../../server/redis/scripts/scripts.ts';
import { dueClaim, dueJobs, dueSchedule, dueSettle, LEASE_MS } from './scripts.ts';

/** How much later than its first fact an account may stand in the index: while it is claimed, and then some. */
const LATE_MS = 2 * LEASE_MS;

export interface ClaimedAccount {
  account: string;
  /** The latest note when it was claimed. */
  stamp: string;
}

interface DueStoreParts {
  redis: Connection;
  scripts: ScriptLoader;
  keys: Keys;
}

/** The index of accounts with something due, and the facts of each account. */
export function makeDueStore({ redis, scripts, keys }: DueStoreParts) {
  const scheduleScript = scripts.define(dueSchedule);
  const claimScript = scripts.define(dueClaim);
  const jobsScript = scripts.define(dueJobs);
  const settleScript = scripts.define(dueSettle);
  const indexOf = (shard: number) => ({ index: keys.dueIndex(shard), stamps: keys.dueStamps(shard) });

  /** The store's clock: primaries may differ by far less than what counts as late. */
  async function nowMs(): Promise<number> {
    const [seconds] = await orFault(redis.time());
    return Number(seconds) * 1_000;
  }

  /** Whether the index would lead nobody to what is due there, or not in time. Few stand so late that it needs a second look-up. */
  async function isMisplaced(account: string, now: number): Promise<boolean> {
    const score = await orFault(redis.zscore(keys.dueIndex(keys.dueShard(account)), account));
    if (score === null) return true;
    if (Number(score) <= now + LATE_MS) return false;
    const [, first] = await orFault(redis.zrange(keys.due(account), '0', '0', 'WITHSCORES'));
    return first !== undefined && Number(score) > Math.max(Number(first), now) + LATE_MS;
  }

  return {
    shards: DUE_SHARDS,

    /** Called before the account's script writes the fact. */
    async schedule(account: string, delayMs: number): Promise<void> {
      const nonce = randomBytes(6).toString('base64url');
      await scheduleScript(indexOf(keys.dueShard(account)), { account, delayMs, nonce });
    },

    /** For a fact that is there, of which the index may not know any more: sooner than it would come otherwise, if at all. */
    async remind(account: string, delayMs: number): Promise<void> {
      await scheduleScript(indexOf(keys.dueShard(account)), { account, delayMs, nonce: '' });
    },

    /** At most `count` whose time has come; nobody else gets them for a while. */
    async claim(shard: number, count: number): Promise<ClaimedAccount[]> {
      const { claimed } = await claimScript(indexOf(shard), { count });
      return claimed;
    },

    /** What is due now, some of it, after the `passed` oldest, and the ms until the next thing is; null when there is none. */
    jobs: (account: string, passed: number): Promise<{ due: string[]; nextInMs: number | null }> =>
      jobsScript(keys.inAccount(account), { passed }),

    /**
     * Accounts with facts that are not in the index, or too late in it, some at a time. In a cluster the two fail over
     * separately, so that a lost tail of one can leave the other behind.
     */
    async *unindexed(): AsyncGenerator<string[]> {
      for await (const found of scanKeys(redis, keys.due('*'), 'zset')) {
        const [accounts, now] = [found.map(keys.accountOf), await nowMs()];
        const misplaced = await Promise.all(accounts.map((account) => isMisplaced(account, now)));
        yield accounts.filter((_, i) => misplaced[i]);
      }
    },

    async settle({ account, stamp }: ClaimedAccount, nextInMs: number | null): Promise<void> {
      await settleScript(indexOf(keys.dueShard(account)), { account, claimedStamp: stamp, nextInMs });
    },
  };
}

export type DueStore = ReturnType<typeof makeDueStore>;
