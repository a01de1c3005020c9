import { type PushConfig, vapidKeyId } from '../../../config/push.ts';
import { makeVapidKeys, type VapidKey } from './vapid.ts';

interface VapidParts {
  settings: PushConfig;
  /** Keeps a text for all replicas. The first one stays. */
  keep: (name: string, text: string) => Promise<string>;
}

/**
 * Returns a function that finds the keys of web push: the configured ones, else a pair that the first replica makes and all
 * find in the store. It resolves to null if there is no web push.
 */
export function makeVapidKeyStore({ settings: { enabled, vapidKeys, vapidSubject }, keep }: VapidParts) {
  let found: Promise<readonly VapidKey[]> | null = null;

  async function find(): Promise<readonly VapidKey[]> {
    if (vapidKeys.length > 0) return vapidKeys;
    const { publicKey, privateKey } = JSON.parse(await keep('vapid', JSON.stringify(makeVapidKeys()))) as {
      publicKey: string;
      privateKey: string;
    };
    return [{ id: vapidKeyId(publicKey), publicKey, privateKey, current: true }];
  }

  return async (): Promise<readonly VapidKey[] | null> => {
    if (!enabled || vapidSubject === null) return null;
    found ??= find();
    try {
      return await found;
    } catch (error) {
      // The store was unreachable. The next call asks again.
      found = null;
      throw error;
    }
  };
}

export type VapidKeyStore = ReturnType<typeof makeVapidKeyStore>;
