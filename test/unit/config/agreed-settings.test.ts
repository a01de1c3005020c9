import webpush from 'web-push';
import { agreedSettingsOf, fingerprintOf } from '../../../services/sync/config/agreed-settings.ts';
import { loadConfig } from '../../../services/sync/config/config.ts';

const [KEYS, OTHER_KEYS] = [webpush.generateVAPIDKeys(), webpush.generateVAPIDKeys()];
const OWN = {
  APP_IDENTITY: 'dev',
  APP_PUBLIC_URL: 'http://localhost:8080',
  APP_REDIS_URL: 'redis://one:6379/0',
  APP_RELAY_REDIS_URL: 'redis://relay:6379/1',
  APP_VAPID_PUBLIC_KEY: KEYS.publicKey,
  APP_VAPID_PRIVATE_KEY: KEYS.privateKey,
};
const settings = (env: Record<string, string> = {}) => agreedSettingsOf(loadConfig({ ...OWN, ...env }, 20_000));

test.each([
  ['APP_CORS_ORIGINS', { APP_CORS_ORIGINS: 'https://a.example' }],
  ['APP_RELAY_WINDOW_BYTES', { APP_RELAY_WINDOW_BYTES: '1048576' }],
  ['APP_RELAY_PREFER', { APP_RELAY_PREFER: 'true' }],
  ['APP_RELAY_REDIS_URL', { APP_RELAY_REDIS_URL: 'redis://relay:6379/2' }],
  ['APP_RELAY_REDIS_URL', { APP_RELAY_REDIS_URL: '' }],
  [
    'APP_VAPID_PUBLIC_KEY',
    { APP_VAPID_PUBLIC_KEY: OTHER_KEYS.publicKey, APP_VAPID_PRIVATE_KEY: OTHER_KEYS.privateKey },
  ],
  ['APP_KEY_PREFIX', { APP_KEY_PREFIX: 'other' }],
  ['APP_SERVICE_ID', { APP_SERVICE_ID: 'other' }],
])('a replica with another %s is told apart', (name, env) => {
  const [one, other] = [settings(), settings(env)];
  const differing = Object.entries(one).filter(([key, value]) => value !== (other as Record<string, string>)[key]);
  expect(differing.map(([key]) => key)).toEqual([name]);
  expect(fingerprintOf(one)).not.toBe(fingerprintOf(other));
});

test('order and credentials tell nobody apart, and no credential is written down', () => {
  const secret = 'redis://:planted-secret@relay:6379/1';
  const one = settings({ APP_CORS_ORIGINS: 'https://a.example,https://b.example' });
  const other = settings({ APP_CORS_ORIGINS: 'https://b.example,https://a.example', APP_RELAY_REDIS_URL: secret });
  expect(other).toEqual(one);
  expect(JSON.stringify(other)).not.toContain('planted');
  expect(JSON.stringify(other)).not.toContain(OWN.APP_VAPID_PRIVATE_KEY);
});
