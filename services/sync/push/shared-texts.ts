import type { Redis } from '../../../shared/service-kit/redis/connections.ts';
import { orFault } from '../../../shared/service-kit/redis/faults.ts';
import type { Keys } from '../redis/keys.ts';
import type { SharedTexts } from './sender.ts';

/** Texts that all replicas share, in the store: the first that is put stays until its time is over. */
export function makeSharedTexts({ redis, keys }: { redis: Redis; keys: Keys }): SharedTexts & {
  /** As `put`, without an end. */
  keep(name: string, text: string): Promise<string>;
} {
  return {
    get: (name) => orFault(redis, () => redis.get(keys.pushText(name))),
    // Redis answers with a text that was there already, and with nothing where ours was written.
    put: async (name, text, ttlSeconds) =>
      (await orFault(redis, () =>
        redis.set(keys.pushText(name), text, 'EX', Math.max(1, Math.ceil(ttlSeconds)), 'NX', 'GET'),
      )) ?? text,
    keep: async (name, text) => (await orFault(redis, () => redis.set(keys.pushText(name), text, 'NX', 'GET'))) ?? text,
  };
}
