import type { Redis } from 'ioredis';
import { freePort } from '../../../deploy/local/setup/redis.mjs';
import { type BrokerProcess, eventually, spawnBroker, stopBrokers, TOKEN } from '../../broker/support/brokers.ts';
import { newSubject, serviceOf } from '../../broker/support/service.ts';
import { type KeyServer, makeSigner, type Signer, startKeyServer } from '../../edge/key-server.ts';
import { makeDevice } from '../../support/device.ts';
import { connectTo, randomPrefix, sharedRedisUrl } from '../../support/redis/redis.ts';
import { type ReplicaProcess, startReplica, stopReplicas } from '../../support/replicas.ts';
import { expectProblem, request } from '../../support/wire.ts';

/* The keys that identities are checked with are available when they are needed, even if the broker is away by then. */

const redisUrl = sharedRedisUrl();
let redis: Redis;
beforeAll(() => {
  redis = connectTo(redisUrl);
});
afterAll(async () => {
  await stopReplicas();
  await stopBrokers();
  redis.disconnect();
});

const keptAt = async (prefix: string): Promise<string | null> =>
  (await redis.keys(`${prefix}:{sys}:key-set:*`))[0] ?? null;
/** Resolves to the store's key for the set of keys, once a replica has kept it there. */
const untilKept = (prefix: string) => eventually('the keys are kept', () => keptAt(prefix));
const askMe = (replica: ReplicaProcess, headers: Record<string, string>) =>
  request(replica, { path: '/api/me', headers });

describe('with the broker killed', () => {
  const [prefix, brokerPrefix] = [randomPrefix(), randomPrefix()];
  const brokerEnv = { BROKER_REDIS_URL: redisUrl, BROKER_KEY_PREFIX: brokerPrefix };
  let broker: BrokerProcess;
  let fresh: ReplicaProcess;
  let devices: Awaited<ReturnType<typeof signIn>>[];
  let port: number;

  const start = (keyPrefix = prefix, env: Record<string, string> = {}) => {
    const own = { APP_IDENTITY: 'broker', APP_BROKER_URL: broker.url, APP_BROKER_TOKEN: TOKEN };
    return startReplica({ redisUrl, keyPrefix, env: { ...own, ...env } });
  };

  async function signIn(dev: ReplicaProcess, scope: 'full' | 'guest' = 'full') {
    const subject = newSubject();
    const device = makeDevice({ user: subject, name: 'Laptop', scope });
    await device.on(dev).call('getMe');
    const session = await serviceOf(broker).mint({ subject, meta: device.id, scope });
    return { subject, id: device.id, bearer: { Authorization: `Bearer ${session.access_token}` } };
  }

  beforeAll(async () => {
    port = await freePort();
    broker = spawnBroker(brokerEnv, port);
    await broker.ready();
    const dev = await startReplica({ redisUrl, keyPrefix: prefix });
    // Nobody shows this replica a token, so it fetches the keys by itself.
    await start();
    await untilKept(prefix);
    devices = await Promise.all([signIn(dev), signIn(dev), signIn(dev, 'guest'), signIn(dev)]);
    // This replica has no broker to tell, and would take what is left to be told for done.
    await dev.stop();
    await broker.kill();
    fresh = await start();
  });

  const end = (path: string, { bearer }: { bearer: Record<string, string> }, method = 'DELETE') =>
    request(fresh, { method, path, headers: bearer });

  test('a token that this replica never saw signs its own device out, by each of the three ways', async () => {
    const [one, two, guest] = devices as [Device, Device, Device];
    expect((await end(`/api/auth/sessions/${one.id}`, one)).status).toBe(202);
    expect((await end('/api/auth/logout', two, 'POST')).status).toBe(204);
    expect((await end(`/api/devices/${guest.id}`, guest)).status).toBe(202);
    for (const gone of [one, two, guest]) expectProblem(await askMe(fresh, gone.bearer), 'session_revoked');
  });

  test('and does nothing that needs a live session: nobody can say whether it has one', async () => {
    const last = devices[3] as Device;
    expectProblem(await askMe(fresh, last.bearer), 'broker_unavailable');
    expectProblem(await end('/api/auth/sessions', last), 'broker_unavailable');
    expectProblem(
      await end('/api/auth/logout', { bearer: { Authorization: `${last.bearer.Authorization}x` } }, 'POST'),
      'unauthenticated',
    );
  });

  test('keys that somebody else wrote into the store are not believed', async () => {
    const other = randomPrefix();
    const victim = devices[3] as Device;
    const forger = await makeSigner('forged');
    const set = JSON.stringify({ set: { keys: [forger.jwk] }, atMs: Date.now() });
    const name = ((await keptAt(prefix)) ?? '').replace(prefix, other);
    const genuine = (await redis.hget((await keptAt(prefix)) ?? '', 'sealed')) ?? '';
    // test/unit/identity/key-set-store.test.ts covers other seals.
    await redis.hset(name, 'at', Date.now(), 'sealed', `${genuine.split('.')[0]}.${set}`);
    const replica = await start(other);
    const claims = { aud: 'baton', sub: victim.subject, meta: victim.id, scope: 'full' };
    const token = await forger.sign({ ...claims, exp: Math.ceil(Date.now() / 1000) + 300 }, { typ: 'at+jwt' });
    const asked = { method: 'POST', path: '/api/auth/logout', headers: { Authorization: `Bearer ${token}` } };
    expectProblem(await request(replica, asked), 'broker_unavailable');
    await replica.stop();
  });

  test('the broker hears of it when it is back', async () => {
    broker = spawnBroker(brokerEnv, port);
    await broker.ready();
    for (const { subject } of devices.slice(0, 3)) {
      await eventually('the broker has ended the session', async () =>
        (await serviceOf(broker).list(subject)).length === 0 ? true : null,
      );
    }
    expect(await serviceOf(broker).list((devices[3] as Device).subject)).toHaveLength(1);
  });
});

type Device = { subject: string; id: string; bearer: { Authorization: string } };

describe('behind an edge that signs, with the place of its keys down', () => {
  const prefix = randomPrefix();
  const ISSUER = 'https://baton.example';
  let [first, second]: Signer[] = [];
  let server: KeyServer;

  const start = () =>
    startReplica({
      redisUrl,
      keyPrefix: prefix,
      env: {
        ...{ APP_IDENTITY: 'edge', APP_EDGE_TRUST: 'jwt', APP_EDGE_JWKS_URL: server.url, APP_EDGE_ISSUER: ISSUER },
        ...{ APP_EDGE_AUDIENCE: 'baton', APP_BROKER_URL: 'http://127.0.0.1:1', APP_BROKER_TOKEN: TOKEN },
      },
    });
  const by = async (signer: Signer | undefined) => {
    const iat = Math.floor(Date.now() / 1000);
    const claims = { iss: ISSUER, aud: 'baton', sub: 'alice', scope: 'full', iat, exp: iat + 60 };
    return { 'X-Auth-Assertion': (await signer?.sign(claims)) ?? '' };
  };
  const down = () => server.answerWith((res) => res.writeHead(503).end());

  beforeAll(async () => {
    [first, second] = await Promise.all([makeSigner('first'), makeSigner('second')]);
    server = await startKeyServer(first.jwk);
    await start();
    await untilKept(prefix);
  });
  afterAll(() => server.stop());

  test('a replica that starts then lets in who has an assertion', async () => {
    down();
    const replica = await start();
    expect((await askMe(replica, await by(first))).status).toBe(200);
    expectProblem(await askMe(replica, await by(second)), 'untrusted_edge');
    await replica.stop();
  });

  test('a key that was withdrawn before is not believed any more', async () => {
    server.keys.splice(0, 1, (second as Signer).jwk);
    server.answerKeys();
    const key = await untilKept(prefix);
    const before = await redis.hget(key, 'sealed');
    const heir = await start();
    await eventually('the new keys are kept', async () => ((await redis.hget(key, 'sealed')) === before ? null : true));
    down();
    const replica = await start();
    expectProblem(await askMe(replica, await by(first)), 'untrusted_edge');
    expect((await askMe(replica, await by(second))).status).toBe(200);
    await Promise.all([heir.stop(), replica.stop()]);
  });

  test('a set that was fetched earlier, and comes late, does not replace it', async () => {
    const key = await untilKept(prefix);
    const [seconds] = await redis.time();
    // A replica believes at most a minute ahead, and has that long to start.
    await redis.hset(key, 'at', (Number(seconds) + 58) * 1000);
    const before = await redis.hgetall(key);
    server.keys.splice(0, 1, (first as Signer).jwk);
    server.answerKeys();
    const fetches = server.fetches();
    const late = await start();
    await eventually('the keys were fetched', async () => (server.fetches() > fetches ? true : null));
    expect((await askMe(late, await by(first))).status).toBe(200);
    expect(await redis.hgetall(key)).toEqual(before);
    await late.stop();
  });

  test('they are kept for a day', async () => {
    const ttl = await redis.pttl(await untilKept(prefix));
    expect(ttl).toBeGreaterThan(86_000_000);
    expect(ttl).toBeLessThanOrEqual(86_400_000);
  });
});

test('a replica starts while nobody has keys, and takes them when they come', async () => {
  const signer = await makeSigner('late');
  const server = await startKeyServer(signer.jwk);
  server.answerWith((res) => res.writeHead(503).end());
  const env = { APP_IDENTITY: 'edge', APP_EDGE_TRUST: 'jwt', APP_EDGE_JWKS_URL: server.url };
  const replica = await startReplica({
    ...{ redisUrl, keyPrefix: randomPrefix() },
    env: { ...env, APP_EDGE_ISSUER: 'i', APP_EDGE_AUDIENCE: 'a' },
  });
  await eventually('it asks again by itself', async () => (server.fetches() > 2 ? true : null));
  const asked = server.fetches();
  server.answerKeys();
  await eventually('it has asked once more', async () => (server.fetches() > asked ? true : null));
  const iat = Math.floor(Date.now() / 1000);
  const claims = { iss: 'i', aud: 'a', sub: 'alice', scope: 'full', iat, exp: iat + 60 };
  const headers = { 'X-Auth-Assertion': await signer.sign(claims) };
  await eventually('it lets in', async () => ((await askMe(replica, headers)).status === 200 ? true : null));
  expect(server.fetches()).toBeLessThanOrEqual(asked + 2);
  await replica.stop();
  await server.stop();
});
