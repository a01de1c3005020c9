import { EventEmitter, once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeCertificate } from '../../deploy/local/setup/certificate.mjs';
import { freePort } from '../../deploy/local/setup/redis.mjs';
import { type RedisAddress, redisAddress } from '../../shared/service-kit/config/redis.ts';
import { makeLeaseStore } from '../../services/sync/replicas/lease-store.ts';
import { Replica } from '../../services/sync/replicas/replica.ts';
import { Bus } from '../../services/sync/redis/bus/bus.ts';
import { close, connectCommands } from '../../shared/service-kit/redis/connections.ts';
import { Store } from '../../services/sync/redis/store.ts';
import { makeLogger } from '../../shared/service-kit/telemetry/logger.ts';
import { makeMetrics } from '../../services/sync/telemetry/metrics.ts';
import { startOwnRedis } from '../support/redis/own-redis.ts';
import { type RedisProcess, startRedisProcess, until } from '../support/redis/redis-processes.ts';
import { type Line, start, STORE_FAILS, STORE_IS_BACK, stopStarted } from './started.ts';

/* Tests what an operator reads when the address of the store is wrong, with servers that really refuse. */

const PASSWORD = 'hidden-pass-4711';
const USER = 'hidden-user';

const folder = mkdtempSync(join(tmpdir(), 'baton-test-tls-'));
const certificate = makeCertificate({ folder, hosts: ['127.0.0.1'] });
let locked: RedisProcess;
let plain: RedisProcess;
let tls: RedisProcess;
let sentinel: RedisProcess;
let tlsPort = 0;

beforeAll(async () => {
  locked = await startRedisProcess({ settings: { requirepass: PASSWORD } });
  plain = await startRedisProcess();
  // One user may do everything except use the keys of this prefix, the other everything except subscribe.
  await plain.cli('acl', 'setuser', USER, 'on', `>${PASSWORD}`, '~other:*', '&*', '+@all');
  await plain.cli('acl', 'setuser', `${USER}-2`, 'on', `>${PASSWORD}`, '~*', 'resetchannels', '+@all');
  tlsPort = await freePort();
  tls = await startRedisProcess({
    settings: {
      ...{ 'tls-port': tlsPort, 'tls-cert-file': certificate.certFile, 'tls-key-file': certificate.keyFile },
      'tls-auth-clients': 'no',
      'tls-ca-cert-file': certificate.certFile,
    },
  });
  sentinel = await startRedisProcess({ isSentinel: true, file: [], readyWhen: 'Sentinel ID is' });
});
afterEach(stopStarted);
afterAll(async () => {
  await Promise.all([locked, plain, tls, sentinel].map((server) => server.stop()));
  rmSync(folder, { recursive: true });
});

function addressOf(url: string): RedisAddress {
  const parsed = redisAddress(url);
  if (!('value' in parsed)) throw new Error(parsed.problem);
  return parsed.value;
}

/** Opens a store as a replica does, and keeps what it logs. It tries to take a lease and to listen like a replica. */
function openStore(url: string) {
  const seen: Line[] = [];
  const news = new EventEmitter();
  const logger = makeLogger(
    { level: 'debug', server: 'test' },
    {
      write(text: string) {
        seen.push(JSON.parse(text) as Line);
        news.emit('line');
      },
    },
  );
  const nothing = () => undefined;
  const store = new Store({
    ...{
      address: addressOf(url),
      keyPrefix: 'baton',
      waitReplicas: 0,
      rateScale: 0,
      logger,
      metrics: makeMetrics({ version: 'test' }),
    },
  });
  const bus = new Bus({ open: store.subscriber, onFailure: nothing });
  const leases = makeLeaseStore({
    redis: store.redis,
    scripts: store.probes,
    keys: store.keys,
    settings: '{}',
    publish: store.publish,
  });
  const onBeat = (ok: boolean, error?: unknown) => {
    store.note(ok, error);
    news.emit('beat');
  };
  const replica = new Replica({
    ...{ leases, bus, keys: store.keys, isUp: () => store.isUp, onBeat },
    ...{ onNewId: nothing, onRevocations: nothing, onSilentSubscriber: nothing, onClockSet: nothing },
  });
  let stopped = false;
  const started = replica.startWhenItCan(() => stopped, store.connect());
  const stop = async () => {
    stopped = true;
    bus.stop();
    store.stop();
    await started;
    await replica.stop();
  };
  const hears = async (fits: (line: Line) => boolean) => {
    while (!seen.some(fits)) await once(news, 'line');
  };
  const triesAgain = async (times: number) => {
    for (let i = 0; i < times; i++) await once(news, 'beat');
  };
  return { store, lines: () => seen, hears, triesAgain, stop };
}

/** Each entry has a name, an address, and the text that is logged about it. */
const WRONG: [string, () => string, RegExp][] = [
  ['a closed port', () => 'redis://127.0.0.1:1', /^nothing listens there .*ECONNREFUSED/],
  ['a name of many addresses on a closed port', () => 'redis://localhost:1', /^nothing listens there .*ECONNREFUSED/],
  ['an unknown host', () => 'redis://no.such.host.invalid', /^the host name is not known /],
  [
    'a store with a password, and none given',
    () => `redis://127.0.0.1:${locked.port}`,
    /^a password is required.*NOAUTH/,
  ],
  [
    'a wrong password',
    () => `redis://:${PASSWORD}-wrong@127.0.0.1:${locked.port}`,
    /^user name or password are refused.*WRONGPASS/,
  ],
  ['an unknown user', () => `redis://${USER}-3:${PASSWORD}@127.0.0.1:${plain.port}`, /refused.*WRONGPASS/],
  ['a user without the right to our keys', () => `redis://${USER}:${PASSWORD}@127.0.0.1:${plain.port}`, /users\.acl/],
  ['a user without channels', () => `redis://${USER}-2:${PASSWORD}@127.0.0.1:${plain.port}`, /users\.acl.*channel/],
  ['TLS to a port without', () => `rediss://127.0.0.1:${plain.port}`, /is TLS spoken on that port/],
  ['no TLS to a port with it', () => `redis://127.0.0.1:${tlsPort}`, /it closes the connection.*rediss:\/\//],
  ['a certificate that nobody trusts', () => `rediss://127.0.0.1:${tlsPort}`, /its certificate is not trusted/],
  [
    'several nodes that are no cluster',
    () => `redis://127.0.0.1:${plain.port},127.0.0.1:${locked.port}`,
    /not part of a cluster|password/,
  ],
  [
    'sentinels that do not know the primary',
    () => `redis+sentinel://127.0.0.1:${sentinel.port}/nobody`,
    /no primary named nobody/,
  ],
  ['sentinels that are not there', () => `redis+sentinel://127.0.0.1:1,127.0.0.1:2/main`, /no sentinel can be reached/],
];

// Together, because each only waits for the beats of its own replica.
test.concurrent.each(WRONG)('of %s the log tells why, once and without a secret', async (_, url, says) => {
  const { store, lines, hears, triesAgain, stop } = openStore(url());
  await hears((line) => STORE_FAILS(line) && says.test(String(line['reason'])));
  expect(store.isUp).toBe(false);
  expect(store.reason).toMatch(says);
  const told = lines().filter((line) => STORE_FAILS(line) && says.test(String(line['reason'])));
  expect(told).toEqual([expect.objectContaining({ level: 50, store: 'main', at: expect.stringMatching(/:\d+/) })]);
  // A few further retries do not say it again.
  await triesAgain(2);
  expect(lines().filter((line) => STORE_FAILS(line) && line['reason'] === told[0]?.['reason'])).toHaveLength(1);
  expect(JSON.stringify(lines())).not.toMatch(/hidden-(pass|user)/);
  await stop();
});

test('a store that comes late, goes and comes back is one line each time', async () => {
  const redis = await startOwnRedis();
  await redis.kill();
  const replica = await start('sync', { APP_REDIS_URL: redis.url, APP_LOG_LEVEL: 'warn' });
  const refused = expect.stringMatching(/^nothing listens there .*ECONNREFUSED/);
  expect(await replica.says(STORE_FAILS)).toMatchObject({ level: 50, store: 'main', reason: refused });
  expect(await replica.asks('/readyz')).toEqual({
    status: 503,
    body: { ready: false, reasons: [expect.stringMatching(/^the store was not reached yet: nothing listens there/)] },
  });
  expect((await replica.asks('/statusz')).body).toMatchObject({
    store: { up: false, reason: refused },
    relay_store: { up: false, reason: refused },
  });
  await redis.start();
  await replica.says(STORE_IS_BACK);
  expect(await untilReady(() => replica.asks('/readyz'))).toEqual({ ready: true, reasons: [] });
  expect((await replica.asks('/statusz')).body).toMatchObject({
    store: { up: true, reason: null },
    relay_store: { up: true, reason: null },
  });
  const before = replica.lines(STORE_FAILS).length;
  await redis.kill();
  await replica.says((line) => STORE_FAILS(line) && replica.lines(STORE_FAILS).length > before);
  expect((await replica.asks('/readyz')).status).toBe(200);
  // Connections that are cut end first; the next are refused.
  const reason = async () => ((await replica.asks('/statusz')).body as { store: { reason: string } }).store.reason;
  expect(await until(reason, (text) => text.startsWith('nothing'), 'refused')).toMatch(/ECONNREFUSED/);
  await replica.stop();
  await redis.stop();
});

async function untilReady(ask: () => Promise<{ status: number; body: Record<string, unknown> }>) {
  for (;;) {
    const { status, body } = await ask();
    if (status === 200) return body;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

test("the relay's own store is told of by its name, and the replica serves all the same", async () => {
  const replica = await start('sync', {
    APP_REDIS_URL: `redis://127.0.0.1:${plain.port}`,
    APP_RELAY_REDIS_URL: `redis://:${PASSWORD}-wrong@127.0.0.1:${locked.port}`,
  });
  const line = await replica.says(STORE_FAILS);
  expect(line).toMatchObject({
    store: 'relay',
    at: `127.0.0.1:${locked.port}`,
    reason: expect.stringMatching(/WRONGPASS/),
  });
  expect(await untilReady(() => replica.asks('/readyz'))).toEqual({ ready: true, reasons: [] });
  expect((await replica.asks('/statusz')).body).toMatchObject({
    store: { up: true, reason: null },
    relay_store: { up: false, reason: expect.stringMatching(/refused/) },
  });
  expect(replica.log()).not.toContain(PASSWORD);
});

test("a user without rights at the relay's store is known before the first file, and well once it has them", async () => {
  const name = `${USER}-relay`;
  await plain.cli('acl', 'setuser', name, 'on', `>${PASSWORD}`, '~other:*', '&*', '+@all');
  const replica = await start('sync', {
    APP_REDIS_URL: `redis://127.0.0.1:${plain.port}`,
    APP_RELAY_REDIS_URL: `redis://${name}:${PASSWORD}@127.0.0.1:${plain.port}`,
  });
  expect(await replica.says(STORE_FAILS)).toMatchObject({
    store: 'relay',
    reason: expect.stringMatching(/users\.acl/),
  });
  await plain.cli('acl', 'setuser', name, '~baton:*');
  expect(await replica.says(STORE_IS_BACK)).toMatchObject({ store: 'relay' });
  expect(replica.log()).not.toContain(USER);
});

test('the broker tells of a wrong password, and of a store that is back', async () => {
  const redis = await startOwnRedis();
  await redis.kill();
  const [wrong, late] = [
    await start('broker', { BROKER_REDIS_URL: `redis://:${PASSWORD}-wrong@127.0.0.1:${locked.port}` }),
    await start('broker', { BROKER_REDIS_URL: redis.url }),
  ];
  expect(await wrong.says(STORE_FAILS)).toMatchObject({
    level: 50,
    store: 'broker',
    reason: expect.stringMatching(/WRONGPASS/),
  });
  expect(wrong.log()).not.toMatch(/hidden-(pass|user)/);
  await late.says(STORE_FAILS);
  await redis.start();
  expect(await late.says(STORE_IS_BACK)).toMatchObject({ level: 40, store: 'broker' });
  await redis.stop();
});

test('the broker tells of a user that may not read its keys', async () => {
  const broker = await start('broker', { BROKER_REDIS_URL: `redis://${USER}:${PASSWORD}@127.0.0.1:${plain.port}` });
  expect(await broker.says(STORE_FAILS)).toMatchObject({ store: 'broker', reason: expect.stringMatching(/NOPERM/) });
  expect(broker.log()).not.toMatch(/hidden-(pass|user)/);
});

test('a connection that is closed during the TLS handshake does not take the process with it', async () => {
  const address = addressOf(`rediss://127.0.0.1:${tlsPort}`);
  const closeAfter = async (turns: number) => {
    const connection = connectCommands({ address, name: 'test', onError: () => undefined });
    const connecting = new Promise((resolve) => void connection.once('connecting', () => resolve(true)));
    connection.connect().catch(() => undefined);
    await connecting;
    for (let turn = 0; turn < turns; turn++) await new Promise((resolve) => setImmediate(resolve));
    close(connection);
  };
  await Promise.all(Array.from({ length: 40 }, (_, i) => closeAfter(i % 8)));
  // This is longer than the server needs to send its answer to that.
  for (let i = 0; i < 10; i++) expect(await tls.cli('ping')).toBe('PONG');
});
