import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Redis } from 'ioredis';
import { argumentsToStart } from '../../deploy/local/setup/compiled.mjs';
import { freePort } from '../../deploy/local/setup/redis.mjs';
import { sharedRedisEnv } from './redis/redis.ts';
import { until } from './redis/redis-processes.ts';
import { makeStillOpen } from './still-open.ts';

/** Less than jest gives a hook, so that the log is shown. Only a replica that cannot start takes this long. */
const READY_WITHIN_MS = 75_000;
/** The same for a replica that stops, with the time in which it tells what keeps it. */
const ENDS_WITHIN_MS = 70_000;

/** One replica in its own process. */
export interface ReplicaProcess {
  readonly url: string;
  readonly adminUrl: string;
  readonly process: ChildProcess;
  /** Returns everything that it logged. */
  readonly log: () => string;
  /** Sends SIGKILL, so that the replica cannot drain. */
  kill(): Promise<void>;
  /** Sends SIGTERM, so that it drains. Resolves to its exit code. */
  stop(): Promise<number | null>;
}

interface ReplicaOptions {
  redisUrl: string;
  keyPrefix: string;
  env?: Record<string, string>;
  /** Set if the port must be known beforehand. */
  port?: number;
  nodeFlags?: string[];
  /** The file to start, if it is not the build's own. */
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

/** Waits for the end of a replica, and kills it if that takes too long. Resolves to what kept it then, otherwise to null. */
async function tellIfLate(child: ChildProcess, exited: Promise<unknown>, { tell }: ReturnType<typeof makeStillOpen>) {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(resolve, ENDS_WITHIN_MS, true);
  });
  const isLate = await Promise.race([exited.then(() => false), late]);
  clearTimeout(timer);
  if (!isLate) return null;
  const open = await tell(child);
  child.kill('SIGKILL');
  await exited;
  return open;
}

/** Starts a replica of the build and waits until it serves. It has identity `dev`, no rate limits and no drain delay. */
export async function startReplica({
  redisUrl,
  keyPrefix,
  env,
  nodeFlags = [],
  main,
  ...given
}: ReplicaOptions): Promise<ReplicaProcess> {
  const [port, adminPort] = [given.port ?? (await freePort()), await freePort()];
  const stillOpen = makeStillOpen(String(adminPort));
  const words = [...stillOpen.flags, ...nodeFlags, ...(main === undefined ? argumentsToStart('sync') : [main])];
  const child = spawn(process.execPath, words, {
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
    // The channel ends the replica if the test process is killed before it can stop it.
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
      // A paused process sees only SIGKILL and SIGCONT.
      child.kill('SIGCONT');
      child.kill('SIGTERM');
      const open = await tellIfLate(child, exited, stillOpen);
      started.delete(replica);
      if (log.includes('still open after the stop'))
        throw new Error(`Something kept a replica that had stopped:\n${log}`);
      if (open === null) return child.exitCode;
      throw new Error(`A replica had not ended ${ENDS_WITHIN_MS} ms after SIGTERM.\nOpen:\n${open}\nIt said:\n${log}`);
    },
  };
  started.add(replica);
  await waitUntilReady(replica);
  return replica;
}

/**
 * Resolves when the replica has just renewed its lease. Between a failed renewal and the next one the replica refuses to
 * use the store. A test that only wants to cut its connection does so at this moment.
 */
export async function untilBeat({ adminUrl }: ReplicaProcess, redis: Redis, keyPrefix: string): Promise<void> {
  const { replica } = (await (await fetch(`${adminUrl}/statusz`)).json()) as { replica: { id: string } };
  const counter = () => redis.hget(`${keyPrefix}:{sys}:replicas`, replica.id);
  const before = await counter();
  await until(counter, (now) => now !== before, 'the next renewal of a lease');
}

/** Stops all replicas that the file still has. For `afterAll`. */
export async function stopReplicas(): Promise<void> {
  await Promise.all([...started].map((replica) => replica.stop()));
}
