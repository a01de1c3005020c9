import type { Redis } from 'ioredis';
import { freePort } from '../../deploy/local/setup/redis.mjs';
import { type BrokerProcess, spawnBroker, stopBrokers, TOKEN } from '../broker/support/brokers.ts';
import { newSubject, serviceOf } from '../broker/support/service.ts';
import { makeDevice } from '../support/device.ts';
import { connectTo, randomPrefix, sharedRedisUrl } from '../support/redis/redis.ts';
import { type ReplicaProcess, startReplica, stopReplicas } from '../support/replicas.ts';
import { type Edge, EDGE_SECRET, type EdgeKind, startEdge, stopEdges } from './edges.ts';

/** A signed-in device as the public sees it: its cookie and its token, and nothing internal. */
export interface EdgeDevice {
  readonly subject: string;
  readonly id: string;
  readonly sessionId: string;
  readonly credential: string;
  readonly cookie: { Cookie: string };
  readonly bearer: { Authorization: string };
}

/** A whole installation on loopback: edge, broker, and two replicas that trust only the edge. */
export interface EdgeSite {
  readonly edge: Edge;
  readonly broker: BrokerProcess;
  readonly replicas: readonly [ReplicaProcess, ReplicaProcess];
  readonly redis: Redis;
  /** Stops a replica by SIGTERM and starts another process on its port. */
  restartReplica(which: 0 | 1): Promise<void>;
  /** Starts another process on the same port with the same keys, after the broker was ended. */
  restartBroker(): Promise<void>;
  /** Makes a session of this device at the broker, and its row. */
  signIn(options?: { subject?: string; name?: string; scope?: 'full' | 'guest' }): Promise<EdgeDevice>;
  stop(): Promise<void>;
}

let devices = 0;

type Vars = Record<string, string>;
/** Further settings of the replicas. They may depend on URLs that are known only when the site starts. */
type Env = Vars | ((urls: { broker: string; publicUrl: string }) => Vars);

export async function startEdgeSite(
  kind: EdgeKind,
  env: Env = {},
  /** Gives what the edge asks in place of the broker. */
  before: (brokerUrl: string) => Promise<{ url: string }> = (url) => Promise.resolve({ url }),
): Promise<EdgeSite> {
  const [port, brokerPort] = [await freePort(), await freePort()];
  const [keyPrefix, brokerPrefix, redisUrl] = [randomPrefix(), randomPrefix(), sharedRedisUrl()];
  const publicUrl = `http://127.0.0.1:${port}`;
  const brokerEnv = {
    BROKER_REDIS_URL: redisUrl,
    BROKER_KEY_PREFIX: brokerPrefix,
    BROKER_PUBLIC_URL: publicUrl,
    BROKER_DEV_LOGIN: '1',
  };
  const restart = async () => {
    const started = spawnBroker(brokerEnv, brokerPort);
    await started.ready();
    return started;
  };
  let broker = await restart();
  const replicaEnv = {
    APP_IDENTITY: 'edge',
    APP_EDGE_SECRET: EDGE_SECRET,
    APP_PUBLIC_URL: publicUrl,
    APP_BROKER_URL: broker.url,
    APP_BROKER_TOKEN: TOKEN,
    APP_TRUSTED_PROXIES: '127.0.0.1',
    APP_LOG_LEVEL: 'info',
    ...(typeof env === 'function' ? env({ broker: broker.url, publicUrl }) : env),
  };
  const start = (changed: Record<string, string> = replicaEnv, own?: number) =>
    startReplica({ redisUrl, keyPrefix, env: changed, ...(own !== undefined && { port: own }) });
  // The third replica writes device rows, as sign-in would.
  const [one, two, dev] = await Promise.all([start(), start(), start({})]);
  const replicas: [ReplicaProcess, ReplicaProcess] = [one, two];
  const edge = await startEdge(kind, { port, replicas: [one.url, two.url], broker: (await before(broker.url)).url });
  const redis = connectTo(redisUrl);
  return {
    edge,
    get broker() {
      return broker;
    },
    replicas,
    redis,
    async restartReplica(which) {
      const { url } = replicas[which];
      await replicas[which].stop();
      replicas[which] = await start(replicaEnv, Number(new URL(url).port));
    },
    async restartBroker() {
      broker = await restart();
    },
    async signIn({ subject = newSubject(), name = `Device ${devices++}`, scope = 'full' } = {}) {
      const { id, ...device } = makeDevice({ user: subject, name, scope });
      await device.on(dev).call('getMe');
      const session = await serviceOf(broker).mint({ subject, meta: id, label: name, scope });
      return {
        ...{ subject, id, sessionId: session.session_id, credential: session.cookie.value },
        cookie: { Cookie: `${session.cookie.name}=${session.cookie.value}` },
        bearer: { Authorization: `Bearer ${session.access_token}` },
      };
    },
    async stop() {
      await stopEdges();
      await stopReplicas();
      await stopBrokers();
      redis.disconnect();
    },
  };
}
