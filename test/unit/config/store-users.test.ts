import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadConfig as loadBroker } from '../../../services/broker/config/config.ts';
import { loadConfig } from '../../../services/sync/config/config.ts';
import { ConfigError } from '../../../shared/service-kit/config/config-error.ts';

type Env = Record<string, string>;

const DEV: Env = { APP_IDENTITY: 'dev', APP_REDIS_URL: 'redis://store' };
const BROKER: Env = { BROKER_REDIS_URL: 'redis://store', BROKER_TOKENS: 'baton:secret' };

/** These are like those of `openssl rand -base64` and of the consoles of hosted services. */
const AWKWARD = 'a/b+c=:d@e?f#g%h,i j"k\\l';

const load = (env: Env) => loadConfig({ ...DEV, ...env }, 1_000_000);

function problemsOf(env: Env): string[] {
  try {
    if (Object.keys(env).some((key) => key.startsWith('BROKER_'))) loadBroker({ ...BROKER, ...env });
    else load(env);
    return [];
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return error.message.split('\n');
  }
}

let folder: string;
const fileWith = (name: string, text: string): string => {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
};

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'baton-config-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

test('a password of any characters is taken as it is, at each store and at its sentinels', () => {
  const SENTINELS = { APP_REDIS_URL: 'redis+sentinel://a,b/main', APP_RELAY_REDIS_URL: 'redis+sentinel://c/relay' };
  const { redis, relay } = load({
    ...SENTINELS,
    ...{ APP_REDIS_USERNAME: 'baton', APP_REDIS_PASSWORD: AWKWARD },
    ...{ APP_REDIS_SENTINEL_USERNAME: 'reader', APP_REDIS_SENTINEL_PASSWORD: `${AWKWARD}-2` },
    ...{ APP_RELAY_REDIS_USERNAME: 'relay', APP_RELAY_REDIS_PASSWORD: `${AWKWARD}-3` },
    ...{ APP_RELAY_REDIS_SENTINEL_USERNAME: 'looker', APP_RELAY_REDIS_SENTINEL_PASSWORD: `${AWKWARD}-4` },
  });
  expect(redis.address).toMatchObject({
    user: { username: 'baton', password: AWKWARD },
    sentinelUser: { username: 'reader', password: `${AWKWARD}-2` },
  });
  expect(relay.address).toMatchObject({
    user: { username: 'relay', password: `${AWKWARD}-3` },
    sentinelUser: { username: 'looker', password: `${AWKWARD}-4` },
  });
  const broker = loadBroker({
    ...BROKER,
    ...{ BROKER_REDIS_URL: 'redis+sentinel://a/main', BROKER_REDIS_USERNAME: 'broker', BROKER_REDIS_PASSWORD: AWKWARD },
    ...{ BROKER_REDIS_SENTINEL_USERNAME: 'reader', BROKER_REDIS_SENTINEL_PASSWORD: AWKWARD },
  });
  expect(broker.redis.address).toMatchObject({
    user: { username: 'broker', password: AWKWARD },
    sentinelUser: { username: 'reader', password: AWKWARD },
  });
});

test('each part goes before what the URL says, and the rest of the URL stays', () => {
  const url = { APP_REDIS_URL: 'redis://someone:old@store:6380/2' };
  expect(load({ ...url, APP_REDIS_PASSWORD: 'new' }).redis.address).toMatchObject({
    ...{ db: 2, nodes: [{ host: 'store', port: 6_380 }] },
    user: { username: 'someone', password: 'new' },
  });
  expect(load({ ...url, APP_REDIS_USERNAME: 'else' }).redis.address.user).toEqual({
    username: 'else',
    password: 'old',
  });
});

test('a password of the sentinels in the query is percent-decoded, and a plus sign is itself', () => {
  const APP_REDIS_URL = 'redis+sentinel://a/main?sentinel_password=a/b+c=%26d';
  const { sentinelUser } = load({ APP_REDIS_URL }).redis.address;
  expect(sentinelUser).toEqual({ username: null, password: 'a/b+c=&d' });
});

test('the relay has the user of the common store where it has no store of its own', () => {
  const { redis, relay } = load({ APP_REDIS_PASSWORD: AWKWARD });
  expect(relay.address).toBe(redis.address);
});

test('a file is read again whenever somebody asks, and a file that is gone or empty changes nothing', () => {
  const path = fileWith('password', `${AWKWARD}\n`);
  const { user } = load({ APP_REDIS_USERNAME: 'baton', APP_REDIS_PASSWORD_FILE: path }).redis.address;
  const seen = [user.password];
  for (const text of ['second\r\n', '', 'third']) {
    fileWith('password', text);
    seen.push(user.password);
  }
  rmSync(path);
  seen.push(user.password);
  fileWith('password', 'fourth');
  seen.push(user.password);
  expect(seen).toEqual([AWKWARD, 'second', 'second', 'third', 'third', 'fourth']);
  expect(user.username).toBe('baton');
});

test('a file that is empty at the start is no password until it holds one', () => {
  const { user } = load({ APP_REDIS_PASSWORD_FILE: fileWith('password', '') }).redis.address;
  expect(user.password).toBeNull();
  fileWith('password', 'late');
  expect(user.password).toBe('late');
});

test.each([
  [{ APP_RELAY_REDIS_PASSWORD: AWKWARD }, 'APP_RELAY_REDIS_PASSWORD is for APP_RELAY_REDIS_URL, which is not set'],
  [{ APP_REDIS_SENTINEL_PASSWORD: AWKWARD }, 'APP_REDIS_SENTINEL_PASSWORD is for sentinels, and APP_REDIS_URL names'],
  [
    { BROKER_REDIS_SENTINEL_USERNAME: 'reader' },
    'BROKER_REDIS_SENTINEL_USERNAME is for sentinels, and BROKER_REDIS_URL',
  ],
  [{ APP_REDIS_USERNAME: 'two words' }, 'APP_REDIS_USERNAME must be 1 to 255 characters without spaces'],
  [
    { APP_REDIS_PASSWORD: 'x', APP_REDIS_PASSWORD_FILE: '/y' },
    'APP_REDIS_PASSWORD and APP_REDIS_PASSWORD_FILE are both',
  ],
  [{ APP_REDIS_PASSWORD_FILE: '/no/such/file' }, 'APP_REDIS_PASSWORD_FILE cannot be read (ENOENT)'],
])('%j is refused', (env, says) => {
  expect(problemsOf(env)).toEqual([expect.stringContaining(says)]);
});

test.each(['APP_REDIS_PASSWORD', 'APP_RELAY_REDIS_PASSWORD', 'BROKER_REDIS_PASSWORD'])(
  '%s of the samples is refused in production',
  (key) => {
    const stores = { APP_RELAY_REDIS_URL: 'redis://relay' };
    const problems = problemsOf({ ...stores, NODE_ENV: 'production', [key]: 'put-a-secret-of-your-own-here-00' });
    expect(problems).toContainEqual(expect.stringMatching(`^${key} must not be a value of the samples`));
  },
);

/** These pieces occur nowhere else in the messages. */
const [ONE, OTHER] = ['Xq7first', 'Zw9second'];

const STORES = [
  ...['/', '?', '#', '@', '%', ':/', '?db=', '/3?'].flatMap((mark) => [
    `redis://:${ONE}${mark}${OTHER}@store:6379`,
    `redis://user:${ONE}${mark}${OTHER}@store,other`,
    `redis+sentinel://user:${ONE}${mark}${OTHER}@a,b/main`,
  ]),
  ...['&', '#', '%', '@'].map((mark) => `redis+sentinel://a,b/main?sentinel_password=${ONE}${mark}${OTHER}`),
  `redis://user:${ONE},${OTHER}@store`,
  `redis:/user:${ONE}@${OTHER}`,
  `http://user:${ONE}@${OTHER}`,
];

test.each(STORES)('nothing of %s is repeated, and the hint says what to do', (url) => {
  for (const key of ['APP_REDIS_URL', 'APP_RELAY_REDIS_URL', 'BROKER_REDIS_URL']) {
    const problems = problemsOf({ [key]: url }).filter((text) => !text.startsWith('BROKER_TOKENS'));
    expect(problems).toEqual([expect.stringMatching(`^${key} .*percent-encode`)]);
    expect(problems.join()).not.toMatch(/Xq7|first|Zw9|second/);
  }
});

test.each([
  ['APP_BROKER_URL', `ftp://user:${ONE}@broker`],
  ['APP_BROKER_URL', `http://user:${ONE}@broker:8090`],
  ['APP_EDGE_JWKS_URL', `https://${ONE}@broker/keys`],
  ['BROKER_OIDC_ISSUER', `https://user:${ONE}@login.example`],
  ['APP_BROKER_LOGIN_URL', `https//user:${ONE}@broker`],
  ['APP_EDGE_JWKS_URL', `user:${ONE}@broker`],
  ['APP_PUBLIC_URL', `https://user:${ONE}@baton.example`],
  ['APP_PUBLIC_ORIGINS', `https://a.example,https://user:${ONE}@b.example`],
  ['APP_CORS_ORIGINS', `https://user:${ONE}@b.example`],
  ['APP_TURN_URLS', `turn:user:${ONE}@turn.example`],
  ['APP_PUSH_ENDPOINTS', `https://user:${ONE}@push.example`],
  ['BROKER_OIDC_ISSUER', `ftp://user:${ONE}@login.example`],
  ['BROKER_RETURN_ORIGINS', `https://user:${ONE}@baton.example`],
  ['APP_TRUSTED_PROXIES', `user:${ONE}@10.0.0.1`],
])('%s never repeats the credentials of a URL', (key, url) => {
  const problems = problemsOf({ [key]: url });
  expect(problems).toContainEqual(expect.stringMatching(`^${key} `));
  expect(problems.join('\n')).not.toContain(ONE);
});
