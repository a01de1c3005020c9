import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { argumentsToStart } from '../../../deploy/local/setup/compiled.mjs';
import { freePort } from '../../../deploy/local/setup/redis.mjs';
import { randomPrefix, sharedRedisUrl } from '../../support/redis/redis.ts';

/** The same as for replicas. */
const READY_WITHIN_MS = 75_000;

/** One broker as a process of its own. */
export interface BrokerProcess {
  readonly url: string;
  /** Its admin URL, as it logged it. */
  readonly adminUrl: string;
  readonly process: ChildProcess;
  /** Returns everything that it logged. */
  readonly log: () => string;
  /** Resolves once it answers `/healthz` with 200. */
  ready(): Promise<void>;
  /** Sends SIGKILL, so the broker ends without a farewell. */
  kill(): Promise<void>;
  /** Sends SIGTERM. Resolves to its exit code. */
  stop(): Promise<number | null>;
}

export const TOKEN = 'token-of-the-service-that-is-long-enough';
export const OTHER_TOKEN = 'token-of-another-service-long-enough-too';

/** The settings of a test broker in addition to its port and store: two apps, no login. */
const DEFAULTS = {
  BROKER_ADMIN_PORT: '0',
  BROKER_DRAIN_NOTICE_SECONDS: '0',
  BROKER_TOKENS: `baton:${TOKEN},other:${OTHER_TOKEN}`,
  BROKER_LOG_LEVEL: 'info',
};

const started = new Set<BrokerProcess>();

/** Resolves once `look` returns something other than null. Others act in their own time. */
export async function eventually<T>(what: string, look: () => Promise<T | null>): Promise<T> {
  const deadline = Date.now() + READY_WITHIN_MS;
  while (Date.now() < deadline) {
    const seen = await look();
    if (seen !== null) return seen;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`Not in ${READY_WITHIN_MS} ms: ${what}`);
}

/** Returns the shared store as the broker's own user sees it, if it has one. */
function asBroker(env: Record<string, string>): Record<string, string> {
  const own = process.env.APP_TEST_BROKER_REDIS_URL;
  return own !== undefined && env['BROKER_REDIS_URL'] === sharedRedisUrl() ? { BROKER_REDIS_URL: own } : {};
}

/** Starts a broker without waiting for it. `env` is added to the defaults; an empty value takes one away. */
export function spawnBroker(env: Record<string, string>, port: number): BrokerProcess {
  const child = spawn(process.execPath, argumentsToStart('broker'), {
    env: {
      PATH: process.env.PATH,
      BROKER_PORT: String(port),
      BROKER_HOST: '127.0.0.1',
      ...DEFAULTS,
      ...env,
      ...asBroker(env),
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let log = '';
  for (const output of [child.stdout, child.stderr]) {
    output?.setEncoding('utf8').on('data', (text: string) => {
      log += text;
    });
  }
  const exited = once(child, 'close');
  const end = async (signal: NodeJS.Signals): Promise<number | null> => {
    child.kill(signal);
    await exited;
    started.delete(broker);
    return child.exitCode;
  };
  const broker: BrokerProcess = {
    url: `http://127.0.0.1:${port}`,
    get adminUrl() {
      return `http://${/"admin":"([^"]+)"/.exec(log)?.[1]}`;
    },
    process: child,
    log: () => log,
    async ready() {
      await eventually(`the broker is ready:\n${log}`, async () => {
        if (child.exitCode !== null) throw new Error(`The broker ended:\n${log}`);
        return fetch(`${broker.url}/healthz`).then(
          (answer) => (answer.ok ? true : null),
          () => null,
        );
      });
    },
    kill: async () => void (await end('SIGKILL')),
    stop: () => end('SIGTERM'),
  };
  started.add(broker);
  return broker;
}

interface BrokerOptions {
  redisUrl?: string;
  keyPrefix?: string;
  env?: Record<string, string>;
}

/** Starts a broker from the build, on keys of its own unless told otherwise, and waits until it serves. */
export async function startBroker({ redisUrl, keyPrefix, env }: BrokerOptions = {}): Promise<BrokerProcess> {
  const store = {
    BROKER_REDIS_URL: redisUrl ?? sharedRedisUrl(),
    BROKER_KEY_PREFIX: keyPrefix ?? randomPrefix(),
  };
  const broker = spawnBroker({ ...store, ...env }, await freePort());
  await broker.ready();
  return broker;
}

/** Ends all brokers that the file still has. For `afterAll`. */
export async function stopBrokers(): Promise<void> {
  await Promise.all([...started].map((broker) => broker.stop()));
}
