import type { Redis } from 'ioredis';
import { keysUnder } from './redis.ts';

/**
 * What moves by itself: what belongs to replicas, the index of due things, and what the streams of earlier tests write
 * when their grace is over. What a request changes of a device shows in its row and in the log.
 */
const MOVING = /:\{sys\}:|:replica:\{|:due:\{|:(presence|routes)$/;

/** What a request did is remembered for a minute, and then no more; nothing else removes it. */
const EXPIRING = /:op:/;

/**
 * Every key under the prefix with its serialised value, but for those of the replicas themselves: two such pictures
 * are equal when nothing was written in between. What expired since `before` is shown as it was there.
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

async function readAll(redis: Redis, key: string): Promise<unknown> {
  const type = await redis.type(key);
  if (type === 'string') return redis.get(key);
  if (type === 'hash') return redis.hgetall(key);
  if (type === 'stream') return redis.xrange(key, '-', '+');
  if (type === 'zset') return redis.zrange(key, '0', '-1');
  if (type === 'set') return redis.smembers(key);
  if (type === 'none') return null;
  throw new Error(`No test knows how to read the ${type} ${key}`);
}

/** The keys under the prefix whose name or value, of whatever type, holds the text. */
export async function keysHolding(redis: Redis, prefix: string, text: string): Promise<string[]> {
  const holding: string[] = [];
  for (const key of await keysUnder(redis, prefix)) {
    if (`${key} ${JSON.stringify(await readAll(redis, key))}`.includes(text)) holding.push(key);
  }
  return holding;
}

/** The keys under the prefix whose name, or value as the store serialises it or as it is read, holds the text. */
export async function dumpsHolding(redis: Redis, prefix: string, text: string): Promise<string[]> {
  const holding = new Set(await keysHolding(redis, prefix, text));
  for (const key of await keysUnder(redis, prefix)) {
    if ((await redis.dumpBuffer(key))?.includes(text)) holding.add(key);
  }
  return [...holding];
}
