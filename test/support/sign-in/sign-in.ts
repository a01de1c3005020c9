import { freePort } from '../../../deploy/local/setup/redis.mjs';
import type { SessionAnswer } from '../../../shared/contract/modules/sessions.ts';
import { type BrokerProcess, spawnBroker, stopBrokers, TOKEN } from '../../broker/support/brokers.ts';
import { randomUser } from '../device.ts';
import { randomPrefix, sharedRedisUrl } from '../redis/redis.ts';
import { type ReplicaProcess, startReplica, stopReplicas } from '../replicas.ts';
import { type Recorder, recordStream } from '../stream-recorder.ts';
import { request, type WireAnswer, type WireRequest } from '../wire.ts';

/** A user with a session, with or without a device. */
export interface SignedIn {
  readonly user: string;
  /** As `name=value`, as it is sent. */
  readonly cookie: string;
  /** Empty for a session without device. */
  readonly deviceId: string;
  readonly answer: SessionAnswer | null;
  ask(replica: { url: string }, what: WireRequest): Promise<WireAnswer>;
  listen(replica: { url: string }): Recorder;
}

/** Two replicas with `APP_IDENTITY=broker` and the reference broker with its development login, on one store. */
export interface SignInSite {
  readonly one: ReplicaProcess;
  readonly two: ReplicaProcess;
  readonly prefix: string;
  readonly brokerPrefix: string;
  readonly broker: BrokerProcess;
  /** Starts the broker again on its port. */
  restartBroker(): Promise<void>;
  startReplica(env?: Record<string, string>): Promise<ReplicaProcess>;
  /** Makes a session without device, as the login does. */
  logIn(user?: string): Promise<SignedIn>;
  /** Signs a device of the user in on `one`. */
  signIn(user?: string, wanted?: Partial<Wanted>): Promise<SignedIn>;
  stop(): Promise<void>;
}

interface Wanted {
  device_id: string;
  device_name: string;
  device_type: string;
  scope: 'full' | 'guest';
  persist: 'once' | 'persist';
}

const ORIGIN = 'http://localhost:8080';

/** Returns the cookie that a response sets, as `name=value`. */
export const cookieOf = ({ headers }: WireAnswer): string =>
  String([headers['set-cookie']].flat()[0] ?? '').split(';')[0] as string;

export function signedIn(user: string, cookie: string, answer: SessionAnswer | null): SignedIn {
  const headers = { Cookie: cookie, Origin: ORIGIN };
  return {
    user,
    cookie,
    answer,
    deviceId: answer?.device?.device_id ?? '',
    ask: (replica, what) => request(replica, { ...what, headers: { ...headers, ...what.headers } }),
    listen: ({ url }) => recordStream({ baseUrl: url, headers }),
  };
}

export async function startSignInSite(
  env: Record<string, string> = {},
  brokerEnv: Record<string, string> = {},
  redisUrl = sharedRedisUrl(),
): Promise<SignInSite> {
  const [prefix, brokerPrefix, port] = [randomPrefix(), randomPrefix(), await freePort()];
  const start = () =>
    spawnBroker(
      {
        ...{ BROKER_REDIS_URL: redisUrl, BROKER_KEY_PREFIX: brokerPrefix },
        ...{ BROKER_DEV_LOGIN: 'true', BROKER_RETURN_ORIGINS: ORIGIN },
        ...brokerEnv,
      },
      port,
    );
  let broker = start();
  await broker.ready();
  const ports = [await freePort(), await freePort()] as const;
  // A client that signed in at one replica goes on at the other.
  const APP_PUBLIC_ORIGINS = ports.map((own) => `http://127.0.0.1:${own}`).join();
  const startOne = (more: Record<string, string> = {}, own?: number) =>
    startReplica({
      ...(own !== undefined && { port: own }),
      redisUrl,
      keyPrefix: prefix,
      env: {
        ...{ APP_IDENTITY: 'broker', APP_BROKER_URL: broker.url, APP_BROKER_TOKEN: TOKEN, APP_PUBLIC_URL: ORIGIN },
        APP_PUBLIC_ORIGINS,
        ...env,
        ...more,
      },
    });
  const [one, two] = await Promise.all([startOne({}, ports[0]), startOne({}, ports[1])]);

  const site: SignInSite = {
    one,
    two,
    prefix,
    brokerPrefix,
    get broker() {
      return broker;
    },
    async restartBroker() {
      broker = start();
      await broker.ready();
    },
    startReplica: (more) => startOne(more),
    async logIn(user = randomUser()) {
      const answer = await fetch(`${broker.url}/login/dev`, {
        method: 'POST',
        redirect: 'manual',
        body: new URLSearchParams({ user, return_to: `${ORIGIN}/` }),
      });
      return signedIn(user, (answer.headers.get('set-cookie') ?? '').split(';')[0] as string, null);
    },
    async signIn(user, wanted = {}) {
      const login = await site.logIn(user);
      const answer = await login.ask(one, {
        method: 'POST',
        path: '/api/auth/device-session',
        body: { device_id: crypto.randomUUID(), device_name: 'Laptop', device_type: 'browser', ...wanted },
      });
      if (answer.status !== 200) throw new Error(`device-session: ${answer.text}`);
      return signedIn(login.user, cookieOf(answer), answer.body as SessionAnswer);
    },
    async stop() {
      await stopReplicas();
      await stopBrokers();
    },
  };
  return site;
}
