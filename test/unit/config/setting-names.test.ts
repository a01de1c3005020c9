import { loadConfig as loadBroker } from '../../../services/broker/config/config.ts';
import { SETTINGS as BROKER_SETTINGS } from '../../../services/broker/config/settings.ts';
import type { Setting } from '../../../shared/service-kit/config/setting.ts';
import { SETTINGS } from '../../../services/sync/config/settings.ts';

/*
 * The settings of installations, as plain text. A name or a default that changes here changes installations. `-` means
 * that there is no default.
 */

const REPLICA = `
  APP_ADMIN_PORT 9090
  APP_APNS_KEY -
  APP_APNS_KEY_ID -
  APP_APNS_TEAM -
  APP_APNS_TOPIC -
  APP_APNS_URL -
  APP_BROKER_APP baton
  APP_BROKER_LOGIN_URL -
  APP_BROKER_TOKEN -
  APP_BROKER_URL -
  APP_CLIPBOARD_TTL_SECONDS 300
  APP_DRAIN_SECONDS 25
  APP_DRAIN_TRANSFER_SECONDS 300
  APP_DUE_REPAIR_SECONDS 3600
  APP_EDGE_AUDIENCE -
  APP_EDGE_ISSUER -
  APP_EDGE_JWKS_URL -
  APP_EDGE_SECRET -
  APP_EDGE_TRUST secret
  APP_FCM_SERVICE_ACCOUNT -
  APP_FCM_URL -
  APP_HOST -
  APP_HUB_MAX_STREAMS 20000
  APP_HUB_SWEEP_SECONDS 60
  APP_IDENTITY -
  APP_KEY_PREFIX baton
  APP_LOG_LEVEL info
  APP_MESSAGE_WAIT_REPLICAS 0
  APP_PORT 8080
  APP_PUBLIC_URL -
  APP_PUSH_ENDPOINTS known
  APP_QR_GUEST_TTL_SECONDS 3600
  APP_QR_LOGIN_ENABLED true
  APP_QR_PERSIST_TTL_HOURS 168
  APP_QR_REQUEST_TTL_SECONDS 120
  APP_RATE_LIMIT_SCALE 1
  APP_REDIS_MODE -
  APP_REDIS_URL -
  APP_RELAY_MEMORY_PERCENT 70
  APP_RELAY_REDIS_URL -
  APP_RELAY_STALL_SECONDS 60
  APP_RELAY_WINDOW_BYTES 8388608
  APP_STUN_URLS -
  APP_TRANSFER_REDELIVERY_SECONDS 3600
  APP_TRUSTED_PROXIES -
  APP_TURN_SECRET -
  APP_TURN_URLS -
  APP_VAPID_PRIVATE_KEY -
  APP_VAPID_PUBLIC_KEY -
  APP_VAPID_SUBJECT -
`;

const BROKER = `
  BROKER_ADMIN_PORT 9190
  BROKER_DEV_LOGIN false
  BROKER_OIDC_CLIENT_ID -
  BROKER_OIDC_CLIENT_SECRET -
  BROKER_OIDC_ISSUER -
  BROKER_PORT 8090
  BROKER_PUBLIC_URL -
  BROKER_REDIS_URL -
  BROKER_RETURN_ORIGINS -
  BROKER_TOKENS -
`;

type Settings = Record<string, Setting<unknown>>;
const defaultsOf = (settings: Settings, keys: string[]): string[] =>
  keys.map((key) => `${key} ${settings[key] === undefined ? 'is missing' : (settings[key].default ?? '-')}`);
const linesOf = (text: string): string[] => text.trim().split(/\n\s*/);
const keysOf = (text: string): string[] => linesOf(text).map((line) => line.split(' ')[0] ?? '');

test('replicas have the settings and defaults that installations rely on', () => {
  expect(defaultsOf(SETTINGS, keysOf(REPLICA))).toEqual(linesOf(REPLICA));
});

test('so has the broker', () => {
  expect(defaultsOf(BROKER_SETTINGS, keysOf(BROKER))).toEqual(linesOf(BROKER));
  const { tokens } = loadBroker({ BROKER_REDIS_URL: 'redis://store', BROKER_TOKENS: 'baton:one,files:two' });
  expect(tokens).toEqual([
    { app: 'baton', token: 'one' },
    { app: 'files', token: 'two' },
  ]);
});
