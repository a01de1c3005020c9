import { randomBytes } from 'node:crypto';
import { Cluster, Redis } from 'ioredis';

/** Returns the URL of the Redis that all test files share. Nothing in it may be flushed. */
export function sharedRedisUrl(): string {
  const url = process.env.APP_TEST_REDIS_URL;
  if (!url) throw new Error('Run the tests with `npm test`, which starts the Redis that they need');
  return url;
}

/** Returns what a replica needs besides the URL, because the URL of a cluster with proxies or a user hides the mode. */
export const sharedRedisEnv = (redisUrl: string): Record<string, string> =>
  process.env.APP_TEST_REDIS_MODE === 'cluster' && redisUrl === sharedRedisUrl() ? { APP_REDIS_MODE: 'cluster' } : {};

/** Returns a prefix that separates the keys of one test file from all others, within the Redis user's prefix. */
export const randomPrefix = (): string => `baton:t${randomBytes(5).toString('hex')}`;

/**
 * Opens a plain connection that shows what is stored. It bypasses sentinels and users of the shared store. For a cluster
 * it has the same commands, as long as they have one key.
 */
export function connectTo(url: string): Redis {
  const look = url === process.env.APP_TEST_REDIS_URL ? (process.env.APP_TEST_REDIS_LOOK ?? url) : url;
  if (!look.includes(',')) return new Redis(look, { maxRetriesPerRequest: 1 });
  const nodes = look.split(',').map((each) => ({ host: new URL(each).hostname, port: Number(new URL(each).port) }));
  return new Cluster(nodes) as unknown as Redis;
}

/** Returns every key under the prefix. `rest` is a pattern for the part after it. */
export async function keysUnder(redis: Redis, prefix: string, rest = ':*'): Promise<string[]> {
  const keys: string[] = [];
  const servers =
    (redis as Redis | Cluster) instanceof Cluster ? (redis as unknown as Cluster).nodes('master') : [redis];
  for (const server of servers) {
    const stream = server.scanStream({ match: `${prefix}${rest}`, count: 500 });
    for await (const page of stream) keys.push(...(page as string[]));
  }
  return keys;
}
