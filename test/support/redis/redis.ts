import { randomBytes } from 'node:crypto';
import { Cluster, Redis } from 'ioredis';

/** The Redis that all test files share; nothing in it may be flushed. */
export function sharedRedisUrl(): string {
  const url = process.env.APP_TEST_REDIS_URL;
  if (!url) throw new Error('Run the tests with `npm test`, which starts the Redis that they need');
  return url;
}

/** What a replica needs beside the URL: a cluster behind several proxies, or with a user, does not look like one. */
export const sharedRedisEnv = (redisUrl: string): Record<string, string> =>
  process.env.APP_TEST_REDIS_MODE === 'cluster' && redisUrl === sharedRedisUrl() ? { APP_REDIS_MODE: 'cluster' } : {};

/** Keeps the keys of one test file apart from all others; below the one prefix that the Redis user may use. */
export const randomPrefix = (): string => `baton:t${randomBytes(5).toString('hex')}`;

/**
 * A plain connection, to look at what is stored. To the shared store it goes past sentinels and users; for a cluster
 * it has the same commands, as long as they have one key.
 */
export function connectTo(url: string): Redis {
  const look = url === process.env.APP_TEST_REDIS_URL ? (process.env.APP_TEST_REDIS_LOOK ?? url) : url;
  if (!look.includes(',')) return new Redis(look, { maxRetriesPerRequest: 1 });
  const nodes = look.split(',').map((each) => ({ host: new URL(each).hostname, port: Number(new URL(each).port) }));
  return new Cluster(nodes) as unknown as Redis;
}

/** Every key under the prefix; `rest`: a pattern for what follows. */
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
