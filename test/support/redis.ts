import { randomBytes } from 'node:crypto';
import { Redis } from 'ioredis';

/** The Redis that all test files share; nothing in it may be flushed. */
export function sharedRedisUrl(): string {
  const url = process.env.APP_TEST_REDIS_URL;
  if (!url) throw new Error('Run the tests with `npm test`, which starts the Redis that they need');
  return url;
}

/** Keeps the keys of one test file apart from all others. */
export const randomPrefix = (): string => `t${randomBytes(5).toString('hex')}`;

/** A plain connection, to look at what is stored. */
export const connectTo = (url: string): Redis => new Redis(url, { maxRetriesPerRequest: 1 });

/** Every key under the prefix. */
export async function keysUnder(redis: Redis, prefix: string): Promise<string[]> {
  const keys: string[] = [];
  for await (const page of redis.scanStream({ match: `${prefix}:*`, count: 500 })) keys.push(...(page as string[]));
  return keys;
}
