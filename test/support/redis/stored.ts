import type { Redis } from 'ioredis';
import { keysUnder } from './redis.ts';

/**
 * Keys that change on their own: those of replicas, the index of due things, and what streams of earlier tests write when
 * their grace is over. A request's change of a device shows in its row and in the log.
 */
const MOVING = /:\{sys\}:|:replica:\{|:due:\{|:(presence|routes)$/;

/** Keys that remember what a request did, for a minute. Nothing else removes them. */
const EXPIRING = /:op:/;

/**
 * Returns every key under the prefix with its serialised value, except those of the replicas themselves. Two pictures are
 * equal when nothing was written in between. Keys that expired since `before` are shown as they were there.
 */
export async function picture(
  redis: Redis,
  prefix: string,
  before: Record<string, string> = {},
): Promise<Record<string, string>> {
  const keys = (await keysUnder(redis, prefix)).filter((key) => !MOVING.test(key)).sort();
  const dumps = await Promise.all(keys.map((key) => redis.dumpBuffer(key)));
  const now = Object.fromEntries(keys.map((key, index) => [key, dumps[index]?.toString('base64') ?? 'gone']));
  const expired = Object.entries(before).filter(([key]) => EXPIRING.test(key) && (now[key] ?? 'gone') === 'gone');
  return { ...now, ...Object.fromEntries(expired) };
}

/** Returns the value of a key, of any type. */
export async function readAll(redis: Redis, key: string): Promise<unknown> {
  const type = await redis.type(key);
  if (type === 'string') return redis.get(key);
  if (type === 'hash') return redis.hgetall(key);
  if (type === 'stream') return redis.xrange(key, '-', '+');
  if (type === 'zset') return redis.zrange(key, '0', '-1');
  if (type === 'set') return redis.smembers(key);
  if (type === 'none') return null;
  throw new Error(`No test knows how to read the ${type} ${key}`);
}

/** Returns the keys under the prefix whose name or value, of any type, contains the text. */
export async function keysHolding(redis: Redis, prefix: string, text: string): Promise<string[]> {
  const holding: string[] = [];
  for (const key of await keysUnder(redis, prefix)) {
    if (`${key} ${JSON.stringify(await readAll(redis, key))}`.includes(text)) holding.push(key);
  }
  return holding;
}

/** Returns the keys under the prefix whose name or value, serialised or as read, contains one of the texts. */
export async function dumpsHolding(redis: Redis, prefix: string, ...texts: readonly string[]): Promise<string[]> {
  const holding = new Set((await Promise.all(texts.map((text) => keysHolding(redis, prefix, text)))).flat());
  for (const key of await keysUnder(redis, prefix)) {
    const dump = await redis.dumpBuffer(key);
    if (texts.some((text) => dump?.includes(text))) holding.add(key);
  }
  return [...holding];
}
