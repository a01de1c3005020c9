import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../../../deploy/local/setup/redis.mjs';
import { harmsOfAnyStore, lookInto, peekInto } from './any-store.ts';
import { fakeTimeEnv, findFakeTime } from './fake-time.ts';
import type { ChaosStore, Harm, HarmOptions, StoreOptions } from './store.ts';
import { startWays, type Ways } from './ways.ts';
import { wait } from '../wait.ts';

const AOF = 'appendonlydir';

const STARTS_WITHIN_MS = 20_000;
const UNHARMED = { loss: null, movedClock: false };

/** One redis-server on a port that it keeps, with every write on disk before it is answered: a kill loses nothing. */
class RedisProcess {
  readonly port: number;
  readonly folder = mkdtempSync(join(tmpdir(), 'baton-chaos-'));
  clockOffsetSeconds = 0;
  readonly #path: string;
  readonly #fakeTime: string | null;
  #child: ChildProcess | null = null;

  constructor(path: string, port: number, fakeTime: string | null) {
    this.#path = path;
    this.port = port;
    this.#fakeTime = fakeTime;
    // The server ends however the driver ends.
    process.once('exit', () => {
      this.#child?.kill('SIGKILL');
      rmSync(this.folder, { recursive: true, force: true });
    });
  }

  async start(): Promise<void> {
    const settings = {
      ...{ port: String(this.port), bind: '127.0.0.1', dir: this.folder, save: '' },
      ...{ appendonly: 'yes', appendfsync: 'always', 'auto-aof-rewrite-percentage': '0' },
      'maxmemory-policy': 'noeviction',
    };
    const child = spawn(
      this.#path,
      Object.entries(settings).flatMap(([key, value]) => [`--${key}`, value]),
      {
        stdio: ['ignore', 'pipe', 'inherit'],
        env: { PATH: process.env.PATH, ...fakeTimeEnv(this.#fakeTime, this.clockOffsetSeconds) },
      },
    );
    this.#child = child;
    await new Promise<void>((resolve, reject) => {
      child.once('close', () => reject(new Error('redis-server ended')));
      setTimeout(() => reject(new Error('redis-server did not become ready')), STARTS_WITHIN_MS).unref();
      child.stdout.setEncoding('utf8').on('data', (text: string) => {
        if (text.includes('Ready to accept connections')) resolve();
      });
    });
  }

  signal(name: 'SIGSTOP' | 'SIGCONT'): void {
    this.#child?.kill(name);
  }

  async kill(): Promise<void> {
    if (this.#child === null) return;
    const closed = once(this.#child, 'close');
    this.#child.kill('SIGKILL');
    await closed;
    this.#child = null;
  }

  /** Saves what is on disk now. */
  saveTo(folder: string): void {
    cpSync(join(this.folder, AOF), folder, { recursive: true });
  }

  /** Replaces what is on disk. Allowed only while the server is down. */
  replaceBy(folder: string | null): void {
    rmSync(join(this.folder, AOF), { recursive: true, force: true });
    if (folder !== null) cpSync(folder, join(this.folder, AOF), { recursive: true });
  }
}

function harmsOf(redis: RedisProcess, canFakeTime: boolean): Record<string, Harm> {
  const at = `redis ${redis.port}`;
  /** Resolves to the time of its death: what is sent after that reaches the next process. */
  const restart = async ({ holdMs, now }: HarmOptions, meanwhile: () => void = () => undefined): Promise<number> => {
    await redis.kill();
    const deadAt = now();
    meanwhile();
    await wait(holdMs);
    await redis.start();
    return deadAt;
  };
  return {
    'redis-kill': async (options) => {
      await restart(options);
      return { ...UNHARMED, target: at };
    },
    'redis-wipe': async (options) => {
      const until = await restart(options, () => redis.replaceBy(null));
      return { target: at, loss: { since: null, until, times: 1 }, movedClock: false };
    },
    /** Acts like a failover to a replica that lagged behind: writes since a moment ago are gone, the rest is there. */
    'redis-lost-tail': async (options) => {
      const kept = `${redis.folder}/kept`;
      const since = options.now();
      redis.saveTo(kept);
      await wait(200 + options.variant * 3_000);
      const until = await restart(options, () => redis.replaceBy(kept));
      rmSync(kept, { recursive: true });
      return { target: at, loss: { since, until, times: 1 }, movedClock: false };
    },
    'redis-pause': async ({ holdMs }) => {
      redis.signal('SIGSTOP');
      await wait(holdMs);
      redis.signal('SIGCONT');
      return { ...UNHARMED, target: at };
    },
    ...(canFakeTime && {
      /** Half of these faults go back to the true clock. */
      'redis-clock': async (options) => {
        const { variant } = options;
        const isBack = redis.clockOffsetSeconds !== 0 && variant < 0.5;
        await restart(options, () => {
          redis.clockOffsetSeconds = isBack ? 0 : Math.round((variant - 0.5) * 240);
        });
        return { loss: null, movedClock: true, target: `${at}, clock ${redis.clockOffsetSeconds} s` };
      },
    }),
  };
}

/** Starts one Redis. Each replica reaches it through a proxy of its own. */
export async function startStandalone({ redisServer }: StoreOptions): Promise<ChaosStore> {
  const fakeTime = findFakeTime();
  const redis = new RedisProcess(redisServer, await freePort(), fakeTime);
  await redis.start();
  const look = lookInto(redis.port);
  const allWays: Ways[] = [];
  return {
    mode: 'standalone',
    async openDoor() {
      const ways = await startWays([redis.port]);
      allWays.push(ways);
      const proxy = ways.to(redis.port);
      return { url: proxy.url, env: {}, proxies: [proxy], leaseWay: () => Promise.resolve(proxy) };
    },
    harms: { ...harmsOf(redis, fakeTime !== null), ...harmsOfAnyStore([look]) },
    harmless: ['redis-kill', 'redis-pause'],
    replicated: null,
    peek: (account) => peekInto([look], account),
    skipped: fakeTime === null ? { 'redis-clock': 'needs libfaketime' } : {},
    async stop() {
      look.disconnect();
      await Promise.all(allWays.map((ways) => ways.stop()));
      redis.signal('SIGCONT');
      await redis.kill();
      rmSync(redis.folder, { recursive: true, force: true });
    },
  };
}
