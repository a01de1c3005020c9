import { freePort } from '../../../deploy/local/setup/redis.mjs';
import { type BrokerProcess, startBroker, stopBrokers, TOKEN } from '../../broker/support/brokers.ts';
import { makeDevice, randomUser } from '../../support/device.ts';
import { randomPrefix, sharedRedisUrl } from '../../support/redis/redis.ts';
import { type ReplicaProcess, startReplica, stopReplicas } from '../../support/replicas.ts';
import { expectProblem, request, sendBytes } from '../../support/wire.ts';

/*
 * DNS rebinding: a page of another site points its own name at an address of this machine, and then has the same origin
 * as the server there. If nothing else asks who the caller is, the name in `Host` decides.
 */

const own = makeDevice({ user: randomUser() });
const [keyPrefix, redisUrl] = [randomPrefix(), sharedRedisUrl()];

let broker: BrokerProcess;
let dev: ReplicaProcess;
let ofBroker: ReplicaProcess;
beforeAll(async () => {
  broker = await startBroker({ env: { BROKER_DEV_LOGIN: '1', BROKER_PUBLIC_URL: 'https://192.0.2.7:8443' } });
  const withBroker = {
    APP_IDENTITY: 'broker',
    APP_HOST: '127.0.0.1',
    APP_BROKER_URL: broker.url,
    APP_BROKER_TOKEN: TOKEN,
  };
  [dev, ofBroker] = await Promise.all([
    startReplica({ redisUrl, keyPrefix, env: { APP_PUBLIC_URL: 'https://Baton.example' } }),
    startReplica({ redisUrl, keyPrefix, env: withBroker }),
  ]);
});
afterAll(async () => {
  await stopReplicas();
  await stopBrokers();
});

const FOREIGN = [
  'evil.example',
  'evil.example:8080',
  '127.0.0.1.evil.example',
  'localhost.evil.example',
  '[::1',
  '192.0.2.9',
];
const LOOPBACK = ['localhost', 'LOCALHOST:8080', '127.0.0.1:1234', '127.9.9.9', '[::1]:8080', 'app.localhost'];

describe.each([
  ['a development replica', () => dev],
  ['a replica that asks a broker in development', () => ofBroker],
])('%s', (_, replica) => {
  test.each(FOREIGN)('does not answer a page of %s', async (host) => {
    const headers = { ...own.headers, Host: host };
    const answer = await request(replica(), { path: '/api/clipboard', headers });
    const problem = expectProblem(answer, 'invalid_request');
    expect(problem.detail).toContain('Host must be localhost');
    expect(problem.errors).toEqual([{ path: '/header/Host', message: expect.stringContaining('must be localhost') }]);
    for (const path of ['/', '/healthz', '/api/openapi.json', '/api/hub/events', '/no/such/path'])
      expectProblem(await request(replica(), { path, headers }), 'invalid_request');
  });

  test.each(LOOPBACK)('answers %s', async (host) => {
    expect((await request(replica(), { path: '/healthz', headers: { Host: host } })).status).toBe(200);
  });

  test('tells a page of another site nothing on its admin port either', async () => {
    const admin = { url: replica().adminUrl };
    for (const path of ['/metrics', '/statusz', '/readyz']) {
      const { status, text } = await request(admin, { path, headers: { Host: 'evil.example' } });
      expect([status, text]).toEqual([400, expect.stringContaining('Host must be localhost')]);
    }
    expect((await request(admin, { path: '/readyz' })).status).toBe(200);
  });

  test('answers who names no host, which no browser does', async () => {
    expect(await sendBytes(replica(), 'GET /healthz HTTP/1.0\r\n\r\n')).toMatch(/^HTTP\/1\.1 200 /);
  });
});

test('the host of the public address is answered, with any port', async () => {
  for (const host of ['baton.example', 'BATON.example:443', 'baton.example:8443'])
    expect((await request(dev, { path: '/healthz', headers: { Host: host } })).status).toBe(200);
});

test('the development login of the broker signs nobody in from a page of another site', async () => {
  const headers = { Host: 'evil.example:8090', 'Content-Type': 'application/x-www-form-urlencoded' };
  const form = { method: 'POST', path: '/login/dev', headers, body: Buffer.from('user=ann') };
  const refused = await request(broker, form);
  expectProblem(refused, 'invalid_request');
  expect(refused.headers['set-cookie']).toBeUndefined();
  expectProblem(await request(broker, { path: '/login', headers }), 'invalid_request');
  for (const host of ['localhost:8090', '192.0.2.7:8443'])
    expect((await request(broker, { ...form, headers: { ...headers, Host: host } })).status).toBe(303);
});

test('a replica that has a sign-in of its own, or listens to others, does not look at Host', async () => {
  const secret = 'a-secret-of-the-edge-that-is-long-enough';
  const port = await freePort();
  const edge = await startReplica({ redisUrl, keyPrefix, env: { APP_IDENTITY: 'edge', APP_EDGE_SECRET: secret } });
  const open = await startReplica({ redisUrl, keyPrefix, env: { APP_HOST: '0.0.0.0', APP_PORT: String(port) } });
  for (const target of [edge, { url: `http://127.0.0.1:${port}` }])
    expect((await request(target, { path: '/healthz', headers: { Host: 'any.example' } })).status).toBe(200);
  await Promise.all([edge.stop(), open.stop()]);
});
