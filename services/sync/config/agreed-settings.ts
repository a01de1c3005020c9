import { createHash } from 'node:crypto';
import type { RedisAddress } from '../../../shared/service-kit/config/redis.ts';
import type { Config } from './config.ts';
import type { Key } from './settings.ts';

/** Settings that must be the same on all replicas of one Redis, as text. None of them is secret. */
export type AgreedSettings = Readonly<Partial<Record<Key, string>>>;

/**
 * Collects the settings that replicas of one installation must agree on: who they serve, how long they keep what another
 * replica writes, and how they count limits. Replicas with different prefixes of keys never meet, so only the fingerprint
 * shows that the prefix differs.
 */
export function agreedSettingsOf(config: Config): AgreedSettings {
  const { identity, http, broker, signin, redis, hub, clipboard, transfers, relay, push } = config;
  return {
    APP_IDENTITY: identity.mode,
    APP_SERVICE_ID: http.serviceId,
    // Includes `APP_PUBLIC_URL`, which may differ: the replicas of `npm start` each have their own.
    APP_PUBLIC_ORIGINS: http.origins.toSorted().join(','),
    APP_CORS_ORIGINS: http.corsOrigins.toSorted().join(','),
    APP_KEY_PREFIX: redis.keyPrefix,
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
    APP_RELAY_WINDOW_BYTES: String(relay.windowBytes),
    APP_RELAY_PREFER: String(relay.isPreferred),
    APP_RELAY_REDIS_URL: relay.address === redis.address ? 'the common store' : storeOf(relay.address),
    // The newest key comes first; replicas that lack it cannot push to its subscriptions.
    APP_VAPID_PUBLIC_KEY: push.vapidKeys.map(({ id }) => id).join(','),
  };
}

/** Returns where a store is, without its credentials. Replicas may name different nodes of one cluster, or sentinels. */
const storeOf = ({ mode, nodes: [node], master, db }: RedisAddress): string =>
  mode === 'standalone' ? `${node?.host}:${node?.port}/${db}` : `${mode} ${master} ${db}`;

/** Returns twelve hexadecimal digits that are the same for the same settings. */
export const fingerprintOf = (settings: AgreedSettings): string =>
  createHash('sha256')
    .update(JSON.stringify(Object.entries(settings).toSorted()))
    .digest('hex')
    .slice(0, 12);
