import { once } from 'node:events';
import { createServer } from 'node:net';
import { type AddressInfo } from 'node:net';
import { start, stopStarted } from './started.ts';

/* Tests the first lines of a replica and of a broker, and what stops them. */

const AWAY = 'redis://127.0.0.1:1';
const LISTENS = ({ msg }: { msg: string }) => msg === 'listening';

afterEach(stopStarted);

test('a replica says where it listens, as what, and which version it is', async () => {
  const replica = await start('sync', { APP_REDIS_URL: AWAY });
  expect(await replica.says(LISTENS)).toMatchObject({
    level: 30,
    listens: `127.0.0.1:${replica.port}`,
    admin: `127.0.0.1:${replica.adminPort}`,
    publicUrl: `http://localhost:${replica.port}`,
    identity: 'dev',
    redis: 'standalone',
    relayRedis: 'standalone',
    version: expect.stringMatching(/^\d+\.\d+/),
  });
});

test('so does the broker', async () => {
  const broker = await start('broker', { BROKER_REDIS_URL: AWAY });
  expect(await broker.says(LISTENS)).toMatchObject({
    ...{ level: 30, listens: `127.0.0.1:${broker.port}`, login: 'none', redis: 'standalone' },
    version: expect.any(String),
  });
});

test.each([
  ['sync', { APP_REDIS_URL: AWAY }],
  ['broker', { BROKER_REDIS_URL: AWAY }],
] as const)(
  '%s parses the certificates that it trusts before it listens, which would stop it for 25 ms later',
  async (main, env) => {
    const said = 'a TLS context with the trusted roots';
    // It writes that to the log, between the lines of the service.
    const watch = `
    import tls from 'node:tls';
    const make = tls.createSecureContext;
    tls.createSecureContext = (options) => {
      if (options?.ca === undefined) console.log(JSON.stringify({ level: 30, msg: '${said}' }));
      return make(options);
    };`;
    const service = await start(main, {
      ...env,
      NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(watch)}`,
    });
    await service.says(LISTENS);
    const told = service.lines(({ msg }) => [said, 'listening'].includes(msg)).map(({ msg }) => msg);
    expect(told).toEqual([said, 'listening']);
  },
);

test.each([
  ['sync', { APP_REDIS_URL: AWAY }],
  ['sync', { APP_REDIS_URL: `${AWAY},127.0.0.1:2` }],
  ['broker', { BROKER_REDIS_URL: `${AWAY},127.0.0.1:2` }],
] as const)('%s that gets only one of its ports ends, with the store at %j', async (main, env) => {
  const taken = createServer().listen(0, '127.0.0.1');
  await once(taken, 'listening');
  const { port } = taken.address() as AddressInfo;
  const service = await start(main, { ...env, APP_ADMIN_PORT: String(port), BROKER_ADMIN_PORT: String(port) });
  expect(await service.ended).toBe(1);
  expect(service.log()).toContain(`127.0.0.1:${port} is taken by another process`);
  taken.close();
});

describe.each([
  ['sync', { APP_REDIS_URL: AWAY }],
  ['broker', { BROKER_REDIS_URL: AWAY, BROKER_DRAIN_NOTICE_SECONDS: '0' }],
] as const)('%s that a script started', (main, env) => {
  test('ends at a signal, although the script goes on', async () => {
    const service = await start(main, env);
    const { admin } = (await service.says(LISTENS)) as unknown as { admin: string };
    // It takes signals before it answers.
    await fetch(`http://${admin}/readyz`);
    service.process.kill('SIGTERM');
    expect(await service.ended).toBe(0);
  });

  test('ends also if the script has ended before it serves', async () => {
    const service = await start(main, env);
    service.process.disconnect();
    expect(await service.ended).toBe(0);
  });
});

test('a misspelt key is named with the one that was meant, beside what is missing by it', async () => {
  const replica = await start('sync', { APP_REDIS_ULR: AWAY, APP_IDENTITY: 'deb' });
  expect(await replica.ended).toBe(78);
  expect(replica.log()).toBe(
    'APP_IDENTITY must be one of edge, broker, dev, not "deb"\n' +
      'APP_REDIS_URL is required\n' +
      'APP_REDIS_ULR is not known; did you mean APP_REDIS_URL?\n',
  );
});

test('a replica that starts warns of keys that nobody reads, but not of those that npm start and the tests read', async () => {
  const replica = await start('sync', {
    ...{ APP_REDIS_URL: AWAY, APP_HUB_SWEEP_SECOND: '7', APP_COLOUR: 'blue', BROKER_PROT: '1' },
    ...{
      APP_REPLICAS: '3',
      APP_LAN_PORT: '8443',
      APP_TEST_REDIS_URL: AWAY,
    },
  });
  await replica.says(LISTENS);
  const warnings = replica.lines(({ level }) => level === 40).map(({ msg }) => msg);
  expect(warnings).toEqual([
    'APP_COLOUR is not known',
    'APP_HUB_SWEEP_SECOND is not known; did you mean APP_HUB_SWEEP_SECONDS?',
  ]);
});

test('so does the broker, of its own', async () => {
  const broker = await start('broker', { BROKER_REDIS_URL: AWAY, BROKER_DEV_LOGN: '1', APP_REDIS_ULR: AWAY });
  expect(await broker.says(({ msg }) => msg.includes('is not known'))).toMatchObject({
    level: 40,
    msg: 'BROKER_DEV_LOGN is not known; did you mean BROKER_DEV_LOGIN?',
  });
  expect(broker.lines(({ msg }) => msg.includes('APP_'))).toEqual([]);
});
