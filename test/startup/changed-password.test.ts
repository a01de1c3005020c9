import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type RedisProcess, startRedisProcess, until } from '../support/redis/redis-processes.ts';
import { start, stopStarted } from './started.ts';

/*
 * Tests what an operator sees who changes the password of Redis: two users of one Redis, and a separate Redis for the
 * relay.
 */

/** These are like those of `openssl rand -base64`. */
const [OLD, NEW, ADMIN] = ['sparrow/+1=', 'kingfisher/+2=', 'admin/+='];

const folder = mkdtempSync(join(tmpdir(), 'baton-test-password-'));
const file = join(folder, 'password');
let redis: RedisProcess;
let relay: RedisProcess;

beforeAll(async () => {
  writeFileSync(file, `${OLD}\n`);
  redis = await startRedisProcess({ settings: { requirepass: ADMIN } });
  relay = await startRedisProcess({ settings: { requirepass: OLD } });
  for (const user of ['baton', 'broker']) {
    await asAdmin('acl', 'setuser', user, 'on', `>${OLD}`, '~*', '&*', '+@all');
  }
});
afterEach(stopStarted);
afterAll(async () => {
  await Promise.all([redis, relay].map((server) => server.stop()));
  rmSync(folder, { recursive: true });
});

const asAdmin = (...words: string[]) => redis.cli('--no-auth-warning', '-a', ADMIN, ...words);

test('a password with any characters is changed at Redis and in its file, and nothing is started anew', async () => {
  const at = ({ port }: RedisProcess) => `redis://127.0.0.1:${port}`;
  const replica = await start('sync', {
    ...{ APP_REDIS_URL: at(redis), APP_REDIS_USERNAME: 'baton', APP_REDIS_PASSWORD_FILE: file },
    ...{ APP_RELAY_REDIS_URL: at(relay), APP_RELAY_REDIS_PASSWORD_FILE: file },
  });
  const broker = await start('broker', {
    ...{ BROKER_REDIS_URL: at(redis), BROKER_REDIS_USERNAME: 'broker', BROKER_REDIS_PASSWORD_FILE: file },
  });
  type Status = Record<'store' | 'relay_store', { up: boolean; reason: string | null }>;
  const status = async () => (await replica.asks('/statusz')).body as Status;
  const brokerHealth = async () => (await fetch(`http://127.0.0.1:${broker.port}/healthz`)).status;
  const allWell = ({ store, relay_store }: Status) =>
    store.up && relay_store.up && store.reason === null && relay_store.reason === null;
  await until(status, allWell, 'both stores');
  await until(brokerHealth, (code) => code === 200, 'the broker');
  const connectionsOf = async (user: string) => {
    const lines = (await asAdmin('client', 'list')).split('\n').filter((line) => line.includes(`user=${user} `));
    return lines.map((line) => /^id=(\d+)/.exec(line)?.[1]);
  };
  const before = [...(await connectionsOf('baton')), ...(await connectionsOf('broker'))];
  expect(before.length).toBeGreaterThanOrEqual(3);

  writeFileSync(file, `${NEW}\n`);
  for (const user of ['baton', 'broker']) {
    await asAdmin('acl', 'setuser', user, 'resetpass', `>${NEW}`);
    await asAdmin('client', 'kill', 'user', user);
  }
  await relay.cli('--no-auth-warning', '-a', OLD, 'config', 'set', 'requirepass', NEW);
  await relay.cli('--no-auth-warning', '-a', NEW, 'client', 'kill', 'type', 'normal');

  for (const user of ['baton', 'broker']) {
    const isNew = (ids: (string | undefined)[]) => ids.length > 0 && ids.every((id) => !before.includes(id));
    await until(() => connectionsOf(user), isNew, `${user} to be back`);
  }
  await until(status, allWell, 'both stores again');
  expect(await brokerHealth()).toBe(200);
  expect(`${replica.log()}${broker.log()}`).not.toMatch(/sparrow|kingfisher/);
});
