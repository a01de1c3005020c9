import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { pickPort } from '../../../deploy/local/setup/free-port.mjs';

const SERVER = process.env.APP_TEST_REDIS_SERVER ?? 'redis-server';
const CLI = SERVER.includes('/') ? join(dirname(SERVER), 'redis-cli') : 'redis-cli';

/** Longer than anything takes here. Only a failing test waits this long. */
const PATIENCE_MS = 80_000;

/** A redis-server of one test, in its own process. */
export interface RedisProcess {
  readonly port: number;
  /** Whether it runs, even if it is paused. */
  isAlive(): boolean;
  /** Runs redis-cli against it, and resolves to the output. Rejects when Redis answers with an error. */
  cli(...words: (string | number)[]): Promise<string>;
  pause(): void;
  resume(): void;
  /** Sends SIGKILL. */
  kill(): Promise<void>;
  /** Starts it again with its durable data. */
  start(env?: Record<string, string>): Promise<void>;
  /** Deletes its durable data while it is down. */
  forget(): void;
  /** Kills it and removes its folder. */
  stop(): Promise<void>;
}

export async function redisCli(...words: (string | number)[]): Promise<string> {
  const { stdout } = await promisify(execFile)(CLI, words.map(String), { timeout: PATIENCE_MS });
  return stdout.trim();
}

/** Asks again until the answer is right. For what Redis does in its own time. */
export async function until<T>(ask: () => Promise<T>, isRight: (answer: T) => boolean, what: string): Promise<T> {
  const giveUpAt = Date.now() + PATIENCE_MS;
  for (;;) {
    const answer = await ask().catch(() => undefined);
    if (answer !== undefined && isRight(answer)) return answer;
    if (Date.now() > giveUpAt) throw new Error(`Waited ${PATIENCE_MS} ms in vain for ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/**
 * Below the ephemeral ports, so that no outgoing connection takes one between the probe and the start. A cluster node
 * also listens on its port + 10,000.
 */
const PORTS = { first: 10_000, count: 6_000, offsets: [0, 10_000] };

export type Settings = Record<string, string | number>;

interface ProcessOptions {
  /** Settings in addition to port, bind and folder. */
  settings?: Settings;
  /** Lines of a configuration file that this process rewrites. Sentinels do, and make promoted servers do so. */
  file?: string[];
  isSentinel?: boolean;
  /** The log text that shows that it serves. */
  readyWhen?: string;
}

export async function startRedisProcess(options: ProcessOptions = {}) {
  const { settings = {}, file, isSentinel = false, readyWhen = 'Ready to accept' } = options;
  const port = await pickPort(PORTS);
  const folder = mkdtempSync(join(tmpdir(), 'baton-test-redis-'));
  const configFile = join(folder, 'redis.conf');
  if (file) writeFileSync(configFile, `${file.join('\n')}\n`);
  const all = { port, bind: '127.0.0.1', dir: folder, save: '', ...settings };
  const args = Object.entries(all).flatMap(([key, value]) => [`--${key}`, ...String(value).split(' ')]);
  let child: ChildProcess | null = null;

  const end = async () => {
    if (!child) return;
    const closed = once(child, 'close');
    child.kill('SIGKILL');
    await closed;
    child = null;
  };
  const redis: RedisProcess = {
    port,
    isAlive: () => child !== null,
    cli: async (...words) => {
      const answer = await redisCli('-p', port, ...words);
      if (/^(ERR|[A-Z]+) /.test(answer) && /^(ERR|CLUSTERDOWN|READONLY|NOREPLICAS|LOADING)\b/.test(answer)) {
        throw new Error(answer);
      }
      return answer;
    },
    pause: () => child?.kill('SIGSTOP'),
    resume: () => child?.kill('SIGCONT'),
    kill: end,
    forget: () => rmSync(join(folder, 'appendonlydir'), { recursive: true, force: true }),
    async start(env = {}) {
      const words = [...(file ? [configFile] : []), ...(isSentinel ? ['--sentinel'] : []), ...args];
      const started = spawn(SERVER, words, { stdio: ['ignore', 'pipe', 'inherit'], env: { ...process.env, ...env } });
      child = started;
      started.stdout.setEncoding('utf8');
      let log = '';
      await new Promise<void>((resolve, reject) => {
        started.once('close', () => reject(new Error(`redis-server ended:\n${log.slice(-2_000)}`)));
        started.stdout.on('data', (text: string) => {
          if (log.length < 65_536) log += text;
          if (log.includes(readyWhen)) resolve();
        });
      });
    },
    async stop() {
      await end();
      rmSync(folder, { recursive: true, force: true });
    },
  };
  await redis.start();
  return redis;
}
