import { createHash } from 'node:crypto';
import type { Config } from './config.ts';
import type { Key } from './settings.ts';

/** Settings that all replicas on one Redis must have alike, as text. None of them is secret. */
export type AgreedSettings = Readonly<Partial<Record<Key, string>>>;

/**
 * Collects the settings that replicas of one installation must agree on: who they serve, how long they keep what another
 * replica writes, and how they count limits. The prefix of keys is not among them, because replicas with different prefixes
 * never meet.
 */
export function agreedSettingsOf(config: Config): AgreedSettings {
  const { identity, http, broker, signin, redis, hub, clipboard, transfers, relay } = config;
  return {
    APP_IDENTITY: identity.mode,
    APP_SERVICE_ID: http.serviceId,
    // Includes `APP_PUBLIC_URL`, which may differ: the replicas of `npm start` each have their own.
    APP_PUBLIC_ORIGINS: http.origins.toSorted().join(','),
    APP_RATE_LIMIT_SCALE: String(http.rateLimitScale),
    APP_BROKER_APP: broker?.app ?? '',
    APP_QR_LOGIN_ENABLED: String(signin.qrEnabled),
    APP_QR_REQUEST_TTL_SECONDS: String(signin.requestSeconds),
    APP_QR_GUEST_TTL_SECONDS: String(signin.onceSeconds),
    APP_QR_PERSIST_TTL_HOURS: String(signin.persistSeconds / 3_600),
    APP_MESSAGE_WAIT_REPLICAS: String(redis.waitReplicas),
    APP_HUB_OFFLINE_GRACE_MS: String(hub.offlineGraceMs),
    APP_CLIPBOARD_TTL_SECONDS: String(clipboard.ttlSeconds),
    APP_TRANSFER_REDELIVERY_SECONDS: String(transfers.redeliverySeconds),
    APP_RELAY_REDIS_URL: relay.address === redis.address ? 'the common store' : 'a store of its own',
  };
}

/** Returns twelve hexadecimal digits that are the same for the same settings. */
export const fingerprintOf = (settings: AgreedSettings): string =>
  createHash('sha256')
    .update(JSON.stringify(Object.entries(settings).toSorted()))
    .digest('hex')
    .slice(0, 12);
