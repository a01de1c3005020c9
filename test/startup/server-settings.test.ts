import { type RedisProcess, startRedisProcess, until } from '../support/redis/redis-processes.ts';
import { type Line, start, stopStarted } from './started.ts';

/* Tests what an operator learns about a Redis that is not configured as deploy/redis says. */

const GOOD = {
  'maxmemory-policy': 'noeviction',
  appendonly: 'yes',
  'client-output-buffer-limit': 'pubsub 64mb 16mb 60',
};
const EVICTS = /^maxmemory-policy is allkeys-lru and must be noeviction/;
const FORGETS = /^appendonly is no/;
const CUTS_OFF = /^client-output-buffer-limit pubsub is 32 MiB and 8 MiB/;
const PASSWORD = 'only-for-this-test';

const redises: RedisProcess[] = [];

async function startRedis(settings: Record<string, string>): Promise<RedisProcess> {
  const redis = await startRedisProcess({ settings });
  redises.push(redis);
  return redis;
}

afterEach(async () => {
  await stopStarted();
  await Promise.all(redises.splice(0).map((redis) => redis.stop()));
});

const urlOf = ({ port }: RedisProcess, user = '') => `redis://${user}127.0.0.1:${port}`;
const warnings = ({ level }: Line) => level === 40;

/** Resolves to the warnings in the log and in the status of a replica with this environment, once it is ready. */
async function toldBy(env: Record<string, string>) {
  const replica = await start('sync', env);
  const isReady = async () => (await replica.asks('/readyz')).status === 200;
  await until(isReady, Boolean, 'the replica to be ready');
  const status = async () =>
    (await replica.asks('/statusz')).body as Record<string, { up: boolean; warnings: string[] }>;
  /** Waits for at least this many lines, because the log comes through a pipe, later than the answers. */
  const logged = (least: number) =>
    until(
      async () => replica.lines(warnings).map(({ msg }) => msg),
      (lines) => lines.length >= least,
      'the log',
    );
  return { replica, status, logged };
}

test('a store that forgets, evicts and cuts subscribers off is warned of, in the log once and in the status', async () => {
  const redis = await startRedis({ 'maxmemory-policy': 'allkeys-lru', appendonly: 'no' });
  const { status, logged } = await toldBy({ APP_REDIS_URL: urlOf(redis) });
  const all = [EVICTS, FORGETS, CUTS_OFF].map((text) => expect.stringMatching(text));
  await until(status, ({ store }) => store?.warnings.length === 3, 'the status to know');
  expect((await status())['store']?.warnings).toEqual(all);
  expect(await logged(3)).toEqual(all);
  const isUp = (wanted: boolean) => until(status, ({ store }) => store?.up === wanted, `the store to be ${wanted}`);
  await redis.kill();
  await isUp(false);
  await redis.start();
  await isUp(true);
  const settings = (await logged(3)).filter((text) => EVICTS.test(text) || FORGETS.test(text) || CUTS_OFF.test(text));
  expect(settings).toEqual(all);
});

test('a store that is set right is not', async () => {
  const redis = await startRedis(GOOD);
  const { status, logged } = await toldBy({ APP_REDIS_URL: urlOf(redis), APP_COLOUR: 'blue' });
  await until(status, ({ store }) => store !== undefined, 'the status');
  expect(await status()).toMatchObject({
    replica: {
      warnings: ['APP_COLOUR is not known'],
      version: expect.any(String),
      streams: 0,
      streams_limit: expect.any(Number),
    },
    memory: { rss: expect.any(Number), heap: expect.any(Number), heap_limit: expect.any(Number) },
    store: { up: true, warnings: [] },
  });
  expect(await logged(1)).toEqual(['APP_COLOUR is not known']);
});

test('a user who may not read the configuration is told what INFO knows, and leaves no refusal on the server', async () => {
  const redis = await startRedis({ 'maxmemory-policy': 'allkeys-lru', appendonly: 'no' });
  await redis.cli('acl', 'setuser', 'baton', 'on', `>${PASSWORD}`, '~*', '&*', '+@all', '-config');
  const { status } = await toldBy({ APP_REDIS_URL: urlOf(redis, `baton:${PASSWORD}@`) });
  await until(status, ({ store }) => store?.warnings.length === 2, 'the status to know');
  expect((await status())['store']?.warnings).toEqual([EVICTS, FORGETS].map((text) => expect.stringMatching(text)));
  expect(await redis.cli('acl', 'log')).toBe('');
});

test("of the relay's own store only eviction is worth a word, and of one that is the common store none twice", async () => {
  const [common, own] = await Promise.all([
    startRedis(GOOD),
    startRedis({ 'maxmemory-policy': 'volatile-ttl', appendonly: 'no' }),
  ]);
  const { status } = await toldBy({ APP_REDIS_URL: urlOf(common), APP_RELAY_REDIS_URL: urlOf(own) });
  await until(status, (told) => told['relay_store']?.warnings.length === 1, 'the status to know');
  expect((await status())['relay_store']?.warnings).toEqual([
    expect.stringMatching(/^maxmemory-policy is volatile-ttl/),
  ]);
  expect((await status())['store']?.warnings).toEqual([]);
});

test('the broker says so too', async () => {
  const redis = await startRedis({ 'maxmemory-policy': 'allkeys-lru', appendonly: 'no' });
  const broker = await start('broker', { BROKER_REDIS_URL: urlOf(redis) });
  for (const text of [EVICTS, FORGETS])
    expect(await broker.says(({ msg }) => text.test(msg))).toMatchObject({ level: 40, store: 'broker' });
});
