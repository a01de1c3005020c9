import { randomBytes } from 'node:crypto';
import type { Connection } from '../redis/connections.ts';
import { DUE_SHARDS, type Keys } from '../redis/keys.ts';
import { scanKeys } from '../redis/scan.ts';
import type { ScriptLoader } from '../redis/scripts.ts';

/** How long a claimed account is left alone by the others. */
const LEASE_MS = 30_000;

/** No request lives longer between its note and its fact. */
const LONGEST_REQUEST_MS = 600_000;

const FACTS_AT_ONCE = 100;

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
  const noteScript = scripts.load('due-note.lua', import.meta.url);
  const claimScript = scripts.load('due-claim.lua', import.meta.url);
  const factsScript = scripts.load('due-facts.lua', import.meta.url);
  const settleScript = scripts.load('due-settle.lua', import.meta.url);
  const indexOf = (shard: number) => [keys.dueIndex(shard), keys.dueStamps(shard)];

  return {
    shards: DUE_SHARDS,

    /** Called before the account's script writes the fact. */
    async note(account: string, delayMs: number): Promise<void> {
      await noteScript(indexOf(keys.dueShard(account)), [account, delayMs, randomBytes(6).toString('base64url')]);
    },

    /** At most `count` whose time has come; nobody else gets them for a while. */
    async claim(shard: number, count: number): Promise<ClaimedAccount[]> {
      const flat = (await claimScript(indexOf(shard), [count, LEASE_MS])) as string[];
      const claimed: ClaimedAccount[] = [];
      for (let i = 0; i < flat.length; i += 2)
        claimed.push({ account: flat[i] as string, stamp: flat[i + 1] as string });
      return claimed;
    },

    /** What is due now, some of it, after the `passed` oldest, and the ms until the next thing is; null when there is none. */
    async facts(account: string, passed: number): Promise<{ due: string[]; nextInMs: number | null }> {
      const [next, ...due] = (await factsScript([keys.due(account)], [FACTS_AT_ONCE, passed])) as string[];
      return { due, nextInMs: next ? Number(next) : null };
    },

    /**
     * Accounts with facts that are not in the index, some at a time. In a cluster the two fail over separately, so that
     * a lost tail of one can leave the other behind.
     */
    async *unindexed(): AsyncGenerator<string[]> {
      for await (const found of scanKeys(redis, keys.due('*'), 'zset')) {
        const accounts = found.map(keys.accountOf);
        const lookUp = (account: string) => redis.zscore(keys.dueIndex(keys.dueShard(account)), account);
        const scores = await Promise.all(accounts.map(lookUp));
        yield accounts.filter((_, i) => scores[i] === null);
      }
    },

    async settle({ account, stamp }: ClaimedAccount, nextInMs: number | null): Promise<void> {
      await settleScript(indexOf(keys.dueShard(account)), [account, stamp, nextInMs ?? '', LONGEST_REQUEST_MS]);
    },
  };
}

export type DueStore = ReturnType<typeof makeDueStore>;
