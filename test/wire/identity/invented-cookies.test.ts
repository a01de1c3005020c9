import { freePort } from '../../../deploy/local/setup/redis.mjs';
import { type BrokerProcess, spawnBroker, stopBrokers, TOKEN } from '../../broker/support/brokers.ts';
import { newSubject, serviceOf } from '../../broker/support/service.ts';
import { type BrokerDoor, startBrokerDoor } from '../../support/sign-in/broker-door.ts';
import { makeDevice } from '../../support/device.ts';
import { closeRawStreams, openRawStream } from '../../support/raw-stream.ts';
import { randomPrefix, sharedRedisUrl } from '../../support/redis/redis.ts';
import { type ReplicaProcess, startReplica, stopReplicas } from '../../support/replicas.ts';
import { expectProblem, request } from '../../support/wire.ts';

/* Identity mode `broker`: what a stranger with invented session cookies costs all others. Limits are at a twentieth: 30
   refusals a minute for each client address. */

const REFUSALS = 30;
const STRANGER = '203.0.113.66';

const redisUrl = sharedRedisUrl();
let broker: BrokerProcess;
let door: BrokerDoor;
let replica: ReplicaProcess;

beforeAll(async () => {
  broker = spawnBroker({ BROKER_REDIS_URL: redisUrl, BROKER_KEY_PREFIX: randomPrefix() }, await freePort());
  await broker.ready();
  door = await startBrokerDoor(broker);
  const env = { APP_IDENTITY: 'broker', APP_BROKER_URL: door.url, APP_BROKER_TOKEN: TOKEN };
  replica = await startReplica({
    ...{ redisUrl, keyPrefix: randomPrefix() },
    env: { ...env, APP_TRUSTED_PROXIES: '127.0.0.0/8', APP_RATE_LIMIT_SCALE: '0.05' },
  });
});
afterEach(() => {
  door.open();
  return closeRawStreams();
});
afterAll(async () => {
  await stopReplicas();
  await door.stop();
  await stopBrokers();
});

async function signIn() {
  const device = makeDevice({ user: newSubject() });
  const wanted = { subject: device.user, meta: device.id, label: 'Laptop', scope: 'full' as const };
  return (await serviceOf(broker).mint(wanted)).cookie.value;
}

const invented = (i: number) => `v1.${`${i}`.padStart(43, 'A')}.${'A'.repeat(43)}`;
const headersOf = (credential: string, address: string) => ({
  Cookie: `baton=${credential}`,
  'X-Forwarded-For': address,
});
const askMe = (credential: string, address: string) =>
  request(replica, { path: '/api/me', headers: headersOf(credential, address) });

test('a flood of them, refused slowly, is refused to the stranger alone, and the broker is asked about few', async () => {
  const [office, home] = [await signIn(), await signIn()];
  expect((await askMe(office, STRANGER)).status).toBe(200);
  let asked = 0;
  door.answer('POST /v1/verify', async (real) => {
    asked += 1;
    const answer = await real();
    // The delay is a quarter of the time that a replica gives the broker. A busy machine needs the rest.
    if (answer.status === 401) await new Promise((resolve) => setTimeout(resolve, 500));
    return { status: answer.status, body: answer.body };
  });

  const flood = Array.from({ length: 400 }, (_, i) => askMe(invented(i), STRANGER));
  const meanwhile = [await askMe(home, '198.51.100.1'), await askMe(office, STRANGER)];
  const answers = await Promise.all(flood);
  const after = await signIn();

  expect(meanwhile.map(({ status }) => status)).toEqual([200, 200]);
  expect((await askMe(after, '198.51.100.1')).status).toBe(200);
  const codes = answers.map(({ status }) => status);
  expect(new Set(codes)).toEqual(new Set([401, 429]));
  // Questions that were under way when the limit was reached are refused too.
  expect(asked).toBeLessThanOrEqual(REFUSALS + 16 + 2);

  const late = await askMe(invented(1_000), STRANGER);
  expectProblem(late, 'rate_limited');
  expect(Number(late.headers['retry-after'])).toBeGreaterThan(0);
  const stream = await openRawStream(replica, headersOf(invented(1_001), STRANGER));
  expect([stream.status, await stream.ended()]).toEqual([200, expect.stringContaining('"reason":"busy"')]);
  const metrics = await (await fetch(`${replica.adminUrl}/metrics`)).text();
  expect(metrics).toMatch(/^baton_rate_limited_total\{group="unknown_credential"\} \d+$/m);
  expect(metrics).toMatch(/^baton_broker_breaker_open\{operation="verify"\} 0$/m);
});

test('what cannot be a session cookie is no question', async () => {
  let asked = 0;
  door.answer('POST /v1/verify', async (real) => {
    asked += 1;
    const { status, body } = await real();
    return { status, body };
  });
  for (let i = 0; i < 50; i++) expectProblem(await askMe(`v1.session.${i}`, '192.0.2.1'), 'unauthenticated');
  expect(asked).toBe(0);
});
