import { generateKeyPairSync } from 'node:crypto';
import { ConfigError } from '../../../shared/service-kit/config/config-error.ts';
import { loadConfig } from '../../../services/sync/config/config.ts';
import { vapidKeyId } from '../../../services/sync/config/push.ts';
import { makeVapidKeys } from '../../../services/sync/push/senders/web-push/vapid.ts';

type Env = Record<string, string>;

const DEV: Env = { APP_IDENTITY: 'dev', APP_REDIS_URL: 'redis://127.0.0.1:6379' };
const PRODUCTION: Env = {
  ...DEV,
  NODE_ENV: 'production',
  APP_IDENTITY: 'edge',
  APP_EDGE_SECRET: 'a-secret-of-the-edge-that-is-long-enough',
  APP_PUBLIC_URL: 'https://baton.example',
  APP_BROKER_URL: 'https://broker.internal',
  APP_TRUSTED_PROXIES: '10.0.0.1',
  APP_BROKER_TOKEN: 'a-token-of-the-broker',
};

const pair = makeVapidKeys();
const VAPID: Env = {
  APP_VAPID_PUBLIC_KEY: pair.publicKey,
  APP_VAPID_PRIVATE_KEY: pair.privateKey,
  APP_VAPID_SUBJECT: 'mailto:ops@baton.dev',
};
const pem = (namedCurve: string): string =>
  generateKeyPairSync('ec', { namedCurve }).privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
const APNS: Env = {
  APP_APNS_KEY: pem('prime256v1'),
  APP_APNS_KEY_ID: 'ABCDE12345',
  APP_APNS_TEAM: 'TEAM123456',
  APP_APNS_TOPIC: 'dev.baton.app',
};
const ACCOUNT = {
  project_id: 'baton',
  client_email: 'push@baton.iam.example',
  private_key_id: '1',
  private_key: generateKeyPairSync('rsa', { modulusLength: 2048 })
    .privateKey.export({ type: 'pkcs8', format: 'pem' })
    .toString(),
  token_uri: 'https://oauth2.example/token',
};

const pushOf = (env: Env) => loadConfig(env).push;

function problemsOf(env: Env): string[] {
  try {
    loadConfig(env);
    return [];
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return error.problems.map(({ key, message }) => `${key} ${message}`);
  }
}

test('outside of production push is on, with keys that are made on the first start', () => {
  expect(pushOf(DEV)).toMatchObject({
    enabled: true,
    vapidKeys: [],
    vapidSubject: expect.any(String),
    concurrency: 10,
  });
});

test('in production there is no web push without keys, and a warning says so', () => {
  const config = loadConfig(PRODUCTION, 10_000);
  expect(config.push).toMatchObject({ vapidKeys: [], vapidSubject: null, fcm: null, apns: null });
  expect(config.warnings).toEqual([expect.stringContaining('push has no keys')]);
  expect(loadConfig({ ...PRODUCTION, APP_PUSH_ENABLED: 'false' }, 10_000).warnings).toEqual([]);
});

test('in production keys are demanded where push is switched on', () => {
  const on = { ...PRODUCTION, APP_PUSH_ENABLED: 'true' };
  expect(problemsOf(on)).toEqual(
    ['APP_VAPID_PUBLIC_KEY', 'APP_VAPID_PRIVATE_KEY', 'APP_VAPID_SUBJECT'].map(
      (key) => `${key} is required in production with APP_PUSH_ENABLED=true`,
    ),
  );
  expect(problemsOf({ ...on, ...VAPID })).toEqual([]);
  expect(problemsOf({ ...on, ...APNS })).toEqual([]);
});

test('keys are rotated by giving the new one first, each known by its id', () => {
  const old = makeVapidKeys();
  const keys = {
    APP_VAPID_PUBLIC_KEY: `${pair.publicKey},${old.publicKey}`,
    APP_VAPID_PRIVATE_KEY: `${pair.privateKey}, ${old.privateKey}`,
  };
  expect(pushOf({ ...PRODUCTION, ...VAPID, ...keys }).vapidKeys).toEqual([
    { ...pair, id: vapidKeyId(pair.publicKey), current: true },
    { ...old, id: vapidKeyId(old.publicKey), current: false },
  ]);
});

test.each<[string, Env, string]>([
  [
    'a private key of another pair',
    { APP_VAPID_PRIVATE_KEY: makeVapidKeys().privateKey },
    'APP_VAPID_PUBLIC_KEY must belong',
  ],
  ['half a pair', { APP_VAPID_PRIVATE_KEY: '' }, 'APP_VAPID_PRIVATE_KEY is required'],
  ['a key that is none', { APP_VAPID_PUBLIC_KEY: 'nonsense' }, 'APP_VAPID_PUBLIC_KEY must be'],
  ['no subject', { APP_VAPID_SUBJECT: '' }, 'APP_VAPID_SUBJECT is required'],
  ['a subject of this machine', { APP_VAPID_SUBJECT: 'mailto:me@localhost' }, 'APP_VAPID_SUBJECT must'],
  ['a subject that is no contact', { APP_VAPID_SUBJECT: 'Baton' }, 'APP_VAPID_SUBJECT must'],
  ['endpoints that are none', { APP_PUSH_ENDPOINTS: 'known,a b' }, 'APP_PUSH_ENDPOINTS must'],
  ['a service account that is none', { APP_FCM_SERVICE_ACCOUNT: '{}' }, 'APP_FCM_SERVICE_ACCOUNT must'],
  [
    'a service account whose key cannot sign',
    { APP_FCM_SERVICE_ACCOUNT: JSON.stringify({ ...ACCOUNT, private_key: pem('prime256v1') }) },
    'APP_FCM_SERVICE_ACCOUNT must',
  ],
  [
    'a service account whose assertions would go in the clear',
    { APP_FCM_SERVICE_ACCOUNT: JSON.stringify({ ...ACCOUNT, token_uri: 'http://oauth2.example/token' }) },
    'APP_FCM_SERVICE_ACCOUNT must',
  ],
  ['a place for FCM in production', { APP_FCM_URL: 'https://fcm.test' }, 'APP_FCM_URL must not be set'],
  ['a place for APNs in production', { APP_APNS_URL: 'https://apns.test' }, 'APP_APNS_URL must not be set'],
  ['half of what APNs needs', { APP_APNS_KEY_ID: 'ABCDE12345' }, 'APP_APNS_KEY is required'],
  ['a key for APNs of another curve', { ...APNS, APP_APNS_KEY: pem('secp384r1') }, 'APP_APNS_KEY must'],
])('%s is refused at start', (_, wrong, says) => {
  expect(problemsOf({ ...PRODUCTION, ...VAPID, ...wrong }).join('\n')).toContain(says);
});

test('no secret is printed, not even a malformed one', () => {
  const secrets = { APP_VAPID_PRIVATE_KEY: 'hush', APP_FCM_SERVICE_ACCOUNT: '{"hush"', APP_APNS_KEY: 'hush' };
  expect(problemsOf({ ...DEV, ...secrets }).join('\n')).not.toContain('hush');
});

test('keys for native pushes are taken as they are given', () => {
  const oneLine = { ...APNS, APP_APNS_KEY: (APNS['APP_APNS_KEY'] ?? '').replaceAll('\n', '\\n') };
  const { apns, fcm } = pushOf({ ...DEV, ...oneLine, APP_FCM_SERVICE_ACCOUNT: JSON.stringify(ACCOUNT) });
  expect(apns).toMatchObject({ privateKeyPem: APNS['APP_APNS_KEY'], teamId: 'TEAM123456' });
  expect(fcm?.serviceAccount).toEqual(ACCOUNT);
});
