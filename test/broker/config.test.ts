import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadConfig } from '../../services/broker/config/config.ts';
import { ConfigError } from '../../shared/service-kit/config/config-error.ts';
import { freePort } from '../../deploy/local/setup/redis.mjs';
import { spawnBroker, stopBrokers } from './support/brokers.ts';

type Env = Record<string, string>;

const LEAST: Env = { BROKER_REDIS_URL: 'redis://127.0.0.1:6379', BROKER_TOKENS: 'baton:secret' };
const PRODUCTION: Env = {
  ...LEAST,
  NODE_ENV: 'production',
  BROKER_PUBLIC_URL: 'https://baton.example',
  BROKER_SECRET: 'a-secret-of-the-broker-that-is-long-enough',
  BROKER_TOKENS: 'baton:a-token-of-the-service-that-is-long-enough',
  BROKER_OIDC_ISSUER: 'https://login.example/realms/home/',
  BROKER_OIDC_CLIENT_ID: 'baton',
  BROKER_OIDC_CLIENT_SECRET: 'client-secret',
};

afterAll(stopBrokers);

function problemsOf(env: Env): string[] {
  try {
    loadConfig(env);
    return [];
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return error.problems.map(({ key, message }) => `${key} ${message}`);
  }
}
const keysOf = (env: Env): string[] => problemsOf(env).map((problem) => problem.split(' ')[0] ?? '');

test('a store and a token are enough', () => {
  expect(loadConfig(LEAST)).toMatchObject({
    http: { host: '0.0.0.0', port: 8090 },
    redis: { keyPrefix: 'broker' },
    tokens: [{ app: 'baton', token: 'secret' }],
    publicUrl: 'http://localhost:8090',
    sessions: { graceSeconds: 60, refusedSubjects: [] },
    login: { app: 'baton', dev: false, oidc: null, returnOrigins: [] },
  });
});

test('the development login listens on loopback unless told otherwise, and then warns', () => {
  const env = { ...LEAST, BROKER_DEV_LOGIN: '1' };
  expect(loadConfig(env)).toMatchObject({ http: { host: '127.0.0.1' }, warnings: [] });
  expect(loadConfig({ ...env, BROKER_HOST: '0.0.0.0' }).warnings).toEqual([
    'BROKER_DEV_LOGIN lets anybody in who reaches 0.0.0.0',
  ]);
});

test('production with everything is silent, and takes the issuer to the letter', () => {
  const config = loadConfig(PRODUCTION);
  expect(config.warnings).toEqual([]);
  expect(config.login.oidc?.issuer).toBe('https://login.example/realms/home/');
});

test.each<[Env, string[]]>([
  [{ BROKER_DEV_LOGIN: 'true' }, ['BROKER_DEV_LOGIN']],
  [{ BROKER_PUBLIC_URL: '' }, ['BROKER_PUBLIC_URL']],
  [{ BROKER_SECRET: '' }, ['BROKER_SECRET']],
  [{ BROKER_PUBLIC_URL: 'http://baton.example' }, ['BROKER_PUBLIC_URL']],
  [{ BROKER_OIDC_ISSUER: 'http://login.example' }, ['BROKER_OIDC_ISSUER']],
  [{ BROKER_PUBLIC_URL: 'http://localhost:8090' }, []],
])('production and %j', (env, keys) => {
  expect(keysOf({ ...PRODUCTION, ...env })).toEqual(keys);
});

test('production warns about what it can do without', () => {
  const bare = { ...PRODUCTION, BROKER_TOKENS: 'baton:short', BROKER_OIDC_ISSUER: '' };
  expect(loadConfig(bare).warnings).toHaveLength(2);
});

test('a key that begins to sign sooner than replicas look again is worth a warning', () => {
  const soon = { ...PRODUCTION, BROKER_KEY_OVERLAP_SECONDS: '299' };
  expect(loadConfig(soon).warnings).toEqual([expect.stringMatching(/^BROKER_KEY_OVERLAP_SECONDS is below the 300 s/)]);
  expect(loadConfig({ ...soon, BROKER_KEY_OVERLAP_SECONDS: '300' }).warnings).toEqual([]);
});

test.each<[Env, string[]]>([
  [{ BROKER_REDIS_URL: '' }, ['BROKER_REDIS_URL']],
  [{ BROKER_REDIS_URL: 'localhost' }, ['BROKER_REDIS_URL']],
  [{ BROKER_TOKENS: '' }, ['BROKER_TOKENS']],
  [{ BROKER_TOKENS: 'baton' }, ['BROKER_TOKENS']],
  [{ BROKER_TOKENS: 'baton:a,:b' }, ['BROKER_TOKENS']],
  [{ BROKER_TOKENS: 'baton:' }, ['BROKER_TOKENS']],
  [{ BROKER_TOKENS: 'ba ton:a' }, ['BROKER_TOKENS']],
  [{ BROKER_PORT: '0' }, ['BROKER_PORT']],
  [{ BROKER_PORT: '65536' }, ['BROKER_PORT']],
  [{ BROKER_PUBLIC_URL: 'baton.example' }, ['BROKER_PUBLIC_URL']],
  [{ BROKER_PUBLIC_URL: 'https://baton.example/?a' }, ['BROKER_PUBLIC_URL']],
  [{ BROKER_RETURN_ORIGINS: 'https://a.example,https://b.example/path' }, ['BROKER_RETURN_ORIGINS']],
  [{ BROKER_RETURN_ORIGINS: '*' }, ['BROKER_RETURN_ORIGINS']],
  [{ BROKER_DEV_LOGIN: 'yes' }, ['BROKER_DEV_LOGIN']],
  [{ BROKER_OIDC_ISSUER: 'https://login.example' }, ['BROKER_OIDC_CLIENT_ID']],
  [{ BROKER_OIDC_ISSUER: 'ftp://login.example' }, ['BROKER_OIDC_ISSUER']],
  [{ BROKER_LOGIN_APP: 'other' }, ['BROKER_LOGIN_APP']],
  [{ BROKER_SECRET: 'short' }, ['BROKER_SECRET']],
  [{ BROKER_REFUSED_SUBJECTS: 'a,b c' }, ['BROKER_REFUSED_SUBJECTS']],
  [{ BROKER_GRACE_SECONDS: '0' }, ['BROKER_GRACE_SECONDS']],
  [{ BROKER_KEY_PREFIX: 'a b' }, ['BROKER_KEY_PREFIX']],
  [{ BROKER_LOG_LEVEL: 'loud' }, ['BROKER_LOG_LEVEL']],
])('%j is refused by name', (env, keys) => {
  expect(keysOf({ ...LEAST, ...env })).toEqual(keys);
});

test('every problem is told at once, and no secret with it', () => {
  const problems = problemsOf({
    BROKER_TOKENS: 'not-a-pair-but-secret',
    BROKER_SECRET: 'secret',
    BROKER_REDIS_URL: 'redis://user:secret@:x',
    BROKER_PORT: 'x',
  });
  expect(problems).toHaveLength(4);
  expect(problems.join('\n')).not.toContain('secret');
});

test('secrets can come from files, and not from two places', () => {
  const folder = mkdtempSync(join(tmpdir(), 'baton-broker-config-'));
  const file = join(folder, 'tokens');
  writeFileSync(file, 'baton:from-a-file\n');
  const { BROKER_TOKENS: _, ...env } = LEAST;
  expect(loadConfig({ ...env, BROKER_TOKENS_FILE: file }).tokens).toEqual([{ app: 'baton', token: 'from-a-file' }]);
  expect(problemsOf({ ...LEAST, BROKER_TOKENS_FILE: file })).toHaveLength(1);
  expect(problemsOf({ ...env, BROKER_TOKENS_FILE: join(folder, 'absent') })).toEqual([
    'BROKER_TOKENS_FILE cannot be read (ENOENT)',
  ]);
  rmSync(folder, { recursive: true });
});

test('a process that is misconfigured prints every problem and exits with 78', async () => {
  const broker = spawnBroker({ BROKER_TOKENS: '', BROKER_DEV_LOGIN: 'true', NODE_ENV: 'production' }, await freePort());
  await once(broker.process, 'close');
  expect(broker.process.exitCode).toBe(78);
  expect(broker.log().trim().split('\n').sort()).toEqual([
    'BROKER_DEV_LOGIN must be off in production: it lets anybody in',
    'BROKER_PUBLIC_URL is required in production',
    'BROKER_REDIS_URL is required',
    'BROKER_SECRET is required in production: it encrypts the private keys in the store',
    'BROKER_TOKENS is required',
  ]);
});
