import { decodeProtectedHeader } from 'jose';
import { freePort } from '../../../deploy/local/setup/redis.mjs';
import { type BrokerProcess, OTHER_TOKEN, spawnBroker, stopBrokers, TOKEN } from '../../broker/support/brokers.ts';
import { type Service, serviceOf } from '../../broker/support/service.ts';
import { randomPrefix, sharedRedisUrl } from '../../support/redis/redis.ts';
import { type ReplicaProcess, startReplica, stopReplicas } from '../../support/replicas.ts';
import { expectProblem, request } from '../../support/wire.ts';

/* The keys of the broker change while replicas run, and each replica lets in only what its own app has minted. */

const redisUrl = sharedRedisUrl();

afterEach(async () => {
  await stopReplicas();
  await stopBrokers();
});

interface Site {
  broker: BrokerProcess;
  service: Service;
  /** One replica asks the broker, the other is behind an edge that passes on its assertions. */
  asking: ReplicaProcess;
  behindEdge: ReplicaProcess;
  /** Ends the broker and starts it with another environment on the same port and keys. */
  startBrokerAgain(env: Record<string, string>): Promise<void>;
}

async function startSite(env: Record<string, string>): Promise<Site> {
  const [port, prefix, brokerPrefix] = [await freePort(), randomPrefix(), randomPrefix()];
  const start = async (more: Record<string, string>) => {
    const own = { BROKER_REDIS_URL: redisUrl, BROKER_KEY_PREFIX: brokerPrefix };
    const started = spawnBroker({ ...own, ...more, BROKER_PUBLIC_URL: `http://localhost:${port}` }, port);
    await started.ready();
    return started;
  };
  const broker = await start(env);
  const startOne = (own: Record<string, string>) => startReplica({ redisUrl, keyPrefix: prefix, env: own });
  const [asking, behindEdge] = await Promise.all([
    startOne({ APP_IDENTITY: 'broker', APP_BROKER_URL: broker.url, APP_BROKER_TOKEN: TOKEN }),
    startOne({
      ...{ APP_IDENTITY: 'edge', APP_EDGE_TRUST: 'jwt', APP_EDGE_AUDIENCE: 'baton' },
      ...{ APP_EDGE_JWKS_URL: `${broker.url}/.well-known/jwks.json`, APP_EDGE_ISSUER: `http://localhost:${port}` },
    }),
  ]);
  const site: Site = {
    ...{ broker, service: serviceOf(broker), asking, behindEdge },
    async startBrokerAgain(more) {
      await site.broker.stop();
      site.broker = await start(more);
    },
  };
  return site;
}

const askMe = (replica: ReplicaProcess, headers: Record<string, string>) =>
  request(replica, { path: '/api/me', headers });

/** Makes a new session and uses it in a request to each replica. Returns the key that had signed for it. */
async function visit({ broker, service, asking, behindEdge }: Site): Promise<string> {
  const session = await service.mint();
  const cookie = { Cookie: `baton=${session.cookie.value}` };
  const { headers } = await request(broker, { path: '/forward-auth', headers: cookie });
  const assertion = String(headers['x-auth-assertion']);
  expect((await askMe(asking, cookie)).status).toBe(200);
  expect((await askMe(asking, { Authorization: `Bearer ${session.access_token}` })).status).toBe(200);
  expect((await askMe(behindEdge, { 'X-Auth-Assertion': assertion })).status).toBe(200);
  return String(decodeProtectedHeader(assertion).kid);
}

test('the next key takes its turn without a request that is refused, and what the last one signed is believed on', async () => {
  const site = await startSite({ BROKER_KEY_SECONDS: '8', BROKER_KEY_OVERLAP_SECONDS: '8' });
  const old = await site.service.mint();
  const first = await visit(site);
  let now = first;
  while (now === first) {
    now = await visit(site);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  expect((await askMe(site.asking, { Authorization: `Bearer ${old.access_token}` })).status).toBe(200);
});

test('a broker that lost the secret of its keys signs with a new one, which replicas believe at once', async () => {
  const [one, two] = ['an-old-secret-of-the-broker-that-is-long', 'a-new-secret-of-the-broker-that-is-long!'];
  const site = await startSite({ BROKER_SECRET: one });
  const first = await visit(site);
  await site.startBrokerAgain({ BROKER_SECRET: two });
  expect(await visit(site)).not.toBe(first);
});

test("what another app has minted lets nobody in here, by cookie, by token or by the edge's assertion", async () => {
  const site = await startSite({});
  const others = serviceOf(site.broker, { app: 'other', token: OTHER_TOKEN });
  const session = await others.mint();
  const cookie = { Cookie: `baton=${session.cookie.value}` };
  expectProblem(await askMe(site.asking, cookie), 'unauthenticated');
  expectProblem(await askMe(site.asking, { Authorization: `Bearer ${session.access_token}` }), 'unauthenticated');
  expect((await request(site.broker, { path: '/forward-auth', headers: cookie })).status).toBe(401);
  // The other app's edge vouches for the session, but only for its own app. This replica belongs to another app.
  await site.startBrokerAgain({ BROKER_FORWARD_AUTH_APP: 'other' });
  const { headers } = await request(site.broker, { path: '/forward-auth', headers: cookie });
  const assertion = String(headers['x-auth-assertion']);
  expectProblem(await askMe(site.behindEdge, { 'X-Auth-Assertion': assertion }), 'untrusted_edge');
});
