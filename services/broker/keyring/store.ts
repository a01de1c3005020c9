import type { Redis } from '../../../shared/service-kit/redis/connections.ts';
import { orFault, storeNowMs } from '../../../shared/service-kit/redis/faults.ts';
import type { ScriptLoader } from '../../../shared/service-kit/redis/scripts/scripts.ts';
import type { Keys } from '../redis/keys.ts';
import { keysAdd, keysSeal } from './scripts.ts';

interface KeyringStoreParts {
  redis: Redis;
  scripts: ScriptLoader;
  keys: Keys;
}

/** Makes the store of the signing keys. */
export function makeKeyringStore({ redis, scripts, keys }: KeyringStoreParts) {
  const addScript = scripts.define(keysAdd);
  const sealScript = scripts.define(keysSeal);
  return {
    /** Resolves to the stored form by key id, the id of the newest key ('' without keys), and the store's time in ms. */
    async read(): Promise<{ texts: Map<string, string>; newest: string; nowMs: number }> {
      const nowMs = await storeNowMs(redis);
      const { newest = '', ...texts } = await orFault(redis, () => redis.hgetall(keys.signingKeys));
      return { texts: new Map(Object.entries(texts)), newest, nowMs };
    },

    /** Adds a key after `newest`. Does nothing if another process was faster. */
    async add(newest: string, { id, text }: { id: string; text: string }): Promise<void> {
      await addScript({ signingKeys: keys.signingKeys }, { newest, key: id, stored: text });
    },

    /** Replaces the stored form of a key. Does nothing if another process was faster. */
    async reseal(key: string, { before, stored }: { before: string; stored: string }): Promise<void> {
      await sealScript({ signingKeys: keys.signingKeys }, { key, before, stored });
    },

    async remove(ids: readonly string[]): Promise<void> {
      await orFault(redis, () => redis.hdel(keys.signingKeys, ...ids));
    },
  };
}

export type KeyringStore = ReturnType<typeof makeKeyringStore>;
