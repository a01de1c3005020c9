import { orFault } from '../../../shared/service-kit/redis/faults.ts';
import type { Db } from '../redis/db.ts';
import type { SharedTexts } from './sender.ts';

/** Makes the texts that all replicas share in the store. The first that is put stays until its lifetime ends. */
export function makeSharedTexts({ redis, keys }: Pick<Db, 'redis' | 'keys'>): SharedTexts & {
  /** Writes a text as `put` does, but without expiry. */
  keep(name: string, text: string): Promise<string>;
} {
  return {
    get: (name) => orFault(redis, () => redis.get(keys.pushText(name))),
    // Redis answers with the text that was there already, or with nothing if it wrote ours.
    put: async (name, text, ttlSeconds) =>
      (await orFault(redis, () =>
        redis.set(keys.pushText(name), text, 'EX', Math.max(1, Math.ceil(ttlSeconds)), 'NX', 'GET'),
      )) ?? text,
    keep: async (name, text) => (await orFault(redis, () => redis.set(keys.pushText(name), text, 'NX', 'GET'))) ?? text,
  };
}
