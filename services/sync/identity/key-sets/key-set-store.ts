import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import type { JSONWebKeySet } from 'jose';
import { orFault, storeNowMs } from '../../../../shared/service-kit/redis/faults.ts';
import type { Db } from '../../redis/db.ts';
import { KEEP_MS, keySetKeep } from '../scripts.ts';

/** A key set, and the store's time in ms before it was fetched. */
export interface KeptKeySet {
  readonly set: JSONWebKeySet;
  readonly atMs: number;
}

interface KeySetStoreParts {
  db: Db;
  /** The URL of the set. */
  url: string;
  /** A secret that the replicas know and the store does not. */
  secret: string;
}

/**
 * Makes the store of the key set that any replica fetched last, for replicas that start while its URL is unreachable. The
 * set is sealed (HMAC-SHA256), because anybody who adds a key to it can sign identities: access to only the store must not
 * be enough. Every method throws `store_unavailable`.
 */
export function makeKeySetStore({ db: { redis, scripts, keys }, url, secret }: KeySetStoreParts) {
  const keep = scripts.define(keySetKeep);
  const key = keys.keySet(createHash('sha256').update(url).digest('base64url').slice(0, 16));

  const sealOf = (text: string): Buffer => createHmac('sha256', secret).update(`key set\0${url}\0${text}`).digest();

  return {
    nowMs: () => storeNowMs(redis),

    /** Keeps a set, unless a later one is kept. */
    async keep(kept: KeptKeySet): Promise<void> {
      const text = JSON.stringify(kept);
      await keep({ keySet: key }, { atMs: kept.atMs, sealed: `${sealOf(text).toString('base64url')}.${text}` });
    },

    /** Resolves to the kept set; null if there is none, no replica sealed it, or its time is over a day from our clock. */
    async read(): Promise<KeptKeySet | null> {
      const sealed = (await orFault(redis, () => redis.hget(key, 'sealed'))) ?? '';
      const dot = sealed.indexOf('.');
      const [seal, text] = [Buffer.from(sealed.slice(0, Math.max(0, dot)), 'base64url'), sealed.slice(dot + 1)];
      const right = sealOf(text);
      if (seal.length !== right.length || !timingSafeEqual(seal, right)) return null;
      const kept = JSON.parse(text) as KeptKeySet;
      return Math.abs(Date.now() - kept.atMs) <= KEEP_MS ? kept : null;
    },
  };
}

export type KeySetStore = ReturnType<typeof makeKeySetStore>;
