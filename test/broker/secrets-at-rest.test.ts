import type { Redis } from 'ioredis';
import { freePort } from '../../deploy/local/setup/redis.mjs';
import { type OpenIdProvider, startOpenIdProvider } from '../support/sign-in/openid-provider.ts';
import { connectTo, keysUnder, randomPrefix, sharedRedisUrl } from '../support/redis/redis.ts';
import { keysHolding } from '../support/redis/stored.ts';
import { request } from '../support/wire.ts';
import { type BrokerProcess, spawnBroker, stopBrokers, TOKEN } from './support/brokers.ts';
import { locationOf, makeBrowser } from './support/browser.ts';
import { serviceOf } from './support/service.ts';

const keyPrefix = randomPrefix();
const SECRET = 'the-secret-of-the-broker-that-seals-its-keys';
const IDEMPOTENCY_KEY = 'idempotency-key-of-a-qr-login';

let provider: OpenIdProvider;
let broker: BrokerProcess;
let redis: Redis;
/** Every text that a reader of the store or the log must not find. */
const secrets: Record<string, string> = {};

const note = (what: string, session: { cookie: { value: string }; access_token: string }): void => {
  secrets[`${what}: credential`] = session.cookie.value;
  secrets[`${what}: secret`] = session.cookie.value.split('.')[2] as string;
  secrets[`${what}: token`] = session.access_token;
  secrets[`${what}: signature`] = session.access_token.split('.')[2] as string;
};

/** Does everything that a broker does, once, at the most talkative level of the log. */
beforeAll(async () => {
  provider = await startOpenIdProvider();
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  broker = spawnBroker(
    {
      ...{ BROKER_REDIS_URL: sharedRedisUrl(), BROKER_KEY_PREFIX: keyPrefix, BROKER_PUBLIC_URL: url },
      ...{ BROKER_SECRET: SECRET, BROKER_LOG_LEVEL: 'trace', BROKER_GRACE_SECONDS: '1' },
      BROKER_OIDC_ISSUER: provider.issuer,
      BROKER_OIDC_CLIENT_ID: provider.clientId,
      BROKER_OIDC_CLIENT_SECRET: provider.clientSecret,
    },
    port,
  );
  await broker.ready();
  redis = connectTo(sharedRedisUrl());
  const service = serviceOf(broker);

  const browser = makeBrowser();
  const atProvider = locationOf(
    await browser.go(`${url}/login?return_to=${encodeURIComponent('/link?r=RRRR&c=CCCC')}`),
  );
  secrets['login attempt'] = [...browser.jar.values()][0] as string;
  const callback = locationOf(
    await request({ url: provider.issuer }, { path: atProvider.slice(provider.issuer.length) }),
  );
  for (const name of ['code', 'state']) secrets[name] = new URL(callback).searchParams.get(name) as string;
  await browser.go(callback);
  await browser.go(callback);
  const login = browser.jar.get('baton') as string;
  secrets['login credential'] = login;
  secrets['login secret'] = login.split('.')[2] as string;
  const { subject } = await service.verify(login);

  const minted = await service.mint({ subject }, IDEMPOTENCY_KEY);
  note('mint', minted);
  note('replay', await service.mint({ subject }, IDEMPOTENCY_KEY));
  const rotated = await service.rotate(minted.cookie.value);
  note('rotation', rotated);
  await service.tryMint({ ...minted } as never, 'malformed');
  await service.verify(rotated.cookie.value);
  await service.tryVerifyToken(rotated.access_token);
  await service.tryVerify(`${rotated.cookie.value}x`);
  const headers = { Cookie: `baton=${rotated.cookie.value}`, 'X-Request-Id': 'request-1' };
  const identified = await request(broker, { path: '/forward-auth', headers });
  secrets['assertion'] = String(identified.headers['x-auth-assertion']);
  await request(broker, { path: `/forward-auth?credential=${minted.cookie.value}`, headers });
  await request(broker, { path: `/v1/verify?credential=${minted.cookie.value}`, headers });
  const second = await service.mint({ subject, meta: 'device-0002' });
  note('revoked', second);
  await service.tryRevoke({ subject, session_id: second.session_id, reason: 'revoked' });

  Object.assign(secrets, {
    ...{ 'service token': TOKEN, 'client secret': provider.clientSecret, 'sealing secret': SECRET },
    ...{ 'idempotency key': IDEMPOTENCY_KEY, 'approval code': 'CCCC', 'login request': 'RRRR' },
  });
});
afterAll(async () => {
  await stopBrokers();
  await provider.stop();
  redis.disconnect();
});

test('the store holds no credential, secret, token or code, in no key and no value', async () => {
  expect((await keysUnder(redis, keyPrefix)).length).toBeGreaterThan(5);
  for (const [what, text] of Object.entries(secrets)) {
    expect({ what, keys: await keysHolding(redis, keyPrefix, text) }).toEqual({ what, keys: [] });
  }
});

test('the private key is not in the store either', async () => {
  const all = JSON.stringify(await redis.hgetall(`${keyPrefix}:{sys}:keys`));
  expect(all).not.toMatch(/\\*"d\\*":/);
  expect(all).not.toContain('plain:');
});

test('the log holds none of them, at its most talkative', () => {
  const log = broker.log();
  expect(log).toContain('/login/callback');
  expect(log).toContain('request-1');
  for (const [what, text] of Object.entries(secrets))
    expect({ what, found: log.includes(text) }).toEqual({ what, found: false });
});

test('everything of an account but the keys goes away by itself', async () => {
  for (const key of await keysUnder(redis, keyPrefix)) {
    const ttl = await redis.pttl(key);
    expect({ key, lasts: ttl > 0 }).toEqual({ key, lasts: !key.endsWith(':{sys}:keys') });
    if (key.includes(':mint:')) expect(ttl).toBeLessThanOrEqual(600_000);
  }
});
