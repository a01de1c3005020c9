import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Redis } from 'ioredis';
import { argumentsToStart } from '../../deploy/local/setup/compiled.mjs';
import { freePort } from '../../deploy/local/setup/redis.mjs';
import { sharedRedisEnv } from './redis/redis.ts';
import { until } from './redis/redis-processes.ts';

/** Below the time that jest gives a hook, so that the log is shown; only one that cannot start takes so long. */
const READY_WITHIN_MS = 75_000;
/** The same for one that is stopped. */
const ENDS_WITHIN_MS = 75_000;

/** One replica as a process of its own. */
export interface ReplicaProcess {
  readonly url: string;
  readonly adminUrl: string;
  readonly process: ChildProcess;
  /** Everything it logged. */
  readonly log: () => string;
  /** SIGKILL: it says goodbye to nobody. */
  kill(): Promise<void>;
  /** SIGTERM: it drains. Resolves to its exit code. */
  stop(): Promise<number | null>;
}

interface ReplicaOptions {
  redisUrl: string;
  keyPrefix: string;
  env?: Record<string, string>;
  /** Where somebody has to know it before. */
  port?: number;
  nodeFlags?: string[];
  /** What is started, where it is not the build itself. */
  main?: string;
}

const started = new Set<ReplicaProcess>();

async function waitUntilReady(replica: ReplicaProcess): Promise<void> {
  const deadline = Date.now() + READY_WITHIN_MS;
  while (Date.now() < deadline) {
    if (replica.process.exitCode !== null) break;
    const ready = await fetch(`${replica.adminUrl}/readyz`).then(
      (answer) => answer.ok,
      () => false,
    );
    if (ready) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`The replica did not become ready:\n${replica.log()}`);
}

/** Starts a replica from the build and waits until it serves. Identity `dev`, no rate limits, no drain delay. */
export async function startReplica({
  redisUrl,
  keyPrefix,
  env,
  nodeFlags = [],
  main,
  ...given
}: ReplicaOptions): Promise<ReplicaProcess> {
  const [port, adminPort] = [given.port ?? (await freePort()), await freePort()];
  const child = spawn(process.execPath, [...nodeFlags, ...(main === undefined ? argumentsToStart('sync') : [main])], {
    env: {
      PATH: process.env.PATH,
      APP_IDENTITY: 'dev',
      APP_REDIS_URL: redisUrl,
      APP_KEY_PREFIX: keyPrefix,
      APP_PORT: String(port),
      APP_ADMIN_PORT: String(adminPort),
      APP_DRAIN_SECONDS: '0',
      APP_DRAIN_TRANSFER_SECONDS: '0',
      APP_RATE_LIMIT_SCALE: '0',
      APP_LOG_LEVEL: 'warn',
      ...sharedRedisEnv(redisUrl),
      ...env,
    },
    // With a channel, so that a replica ends with a test process that was killed before it could stop it.
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  let log = '';
  for (const output of [child.stdout, child.stderr]) {
    output?.setEncoding('utf8').on('data', (text: string) => {
      log += text;
    });
  }
  const exited = once(child, 'close');
  const replica: ReplicaProcess = {
    url: `http://127.0.0.1:${port}`,
    adminUrl: `http://127.0.0.1:${adminPort}`,
    process: child,
    log: () => log,
    async kill() {
      child.kill('SIGKILL');
      await exited;
      started.delete(replica);
    },
    async stop() {
      // A paused process sees no signal but SIGKILL and SIGCONT.
      child.kill('SIGCONT');
      child.kill('SIGTERM');
      let isLate = false;
      const late = setTimeout(() => {
        isLate = true;
        child.kill('SIGKILL');
      }, ENDS_WITHIN_MS);
      await exited;
      clearTimeout(late);
      started.delete(replica);
      if (isLate) throw new Error(`A replica had not ended ${ENDS_WITHIN_MS} ms after SIGTERM. It said:\n${log}`);
      return child.exitCode;
    },
  };
  started.add(replica);
  await waitUntilReady(replica);
  return replica;
}

/**
 * Resolves when the replica has just renewed its lease. It refuses to use the store from a renewal that failed to the
 * next one: whoever cuts its connection, and wants no more than that, does it now.
 */
export async function untilBeat({ adminUrl }: ReplicaProcess, redis: Redis, keyPrefix: string): Promise<void> {
  const { replica } = (await (await fetch(`${adminUrl}/statusz`)).json()) as { replica: { id: string } };
  const counter = () => redis.hget(`${keyPrefix}:{sys}:replicas`, replica.id);
  const before = await counter();
  await until(counter, (now) => now !== before, 'the next renewal of a lease');
}

/** Ends whatever replicas the file still has; for `afterAll`. */
export async function stopReplicas(): Promise<void> {
  await Promise.all([...started].map((replica) => replica.stop()));
}
