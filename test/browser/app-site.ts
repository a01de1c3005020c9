import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { pickPort } from '../../deploy/local/setup/free-port.mjs';
import { freePort } from '../../deploy/local/setup/redis.mjs';
import { randomPrefix, sharedRedisUrl } from '../support/redis/redis.ts';

const START = fileURLToPath(new URL('../../deploy/local/start.mjs', import.meta.url));

/** Two replicas and a broker with its development login behind one https address, as with `npm start -- --lan`. */
export interface AppSite {
  readonly url: string;
  /** Sends SIGKILL to one of the replicas, which is not started again. */
  killReplica(): void;
  stop(): Promise<void>;
}

/**
 * Returns the first of two free ports in a row, apart from those of `freePort`. Replicas take the named port and the
 * next one.
 */
async function freeRow(): Promise<number> {
  for (;;) {
    const first = await pickPort({ first: 20_000, count: 6_000, offsets: [0, 1] });
    // The port is even, so that no two rows share a port.
    if (first % 2 === 0) return first;
  }
}

async function environment(folder: string): Promise<NodeJS.ProcessEnv> {
  return {
    PATH: process.env.PATH,
    HOME: process.env.HOME,
    APP_DATA_DIR: folder,
    APP_LAN_ADDRESS: '127.0.0.1',
    APP_LAN_PORT: String(await freePort()),
    APP_PORT: String(await freeRow()),
    APP_ADMIN_PORT: String(await freeRow()),
    BROKER_PORT: String(await freePort()),
    APP_REDIS_URL: sharedRedisUrl(),
    APP_KEY_PREFIX: randomPrefix(),
    BROKER_KEY_PREFIX: randomPrefix(),
    APP_RATE_LIMIT_SCALE: '0',
  };
}

export async function startAppSite(): Promise<AppSite> {
  const folder = mkdtempSync(join(tmpdir(), 'baton-app-'));
  const child: ChildProcess = spawn(process.execPath, [START, '--lan'], {
    env: await environment(folder),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const log: string[] = [];
  const replicas: number[] = [];
  const url = await new Promise<string>((resolve, reject) => {
    const [out, err] = [child.stdout, child.stderr];
    if (out === null || err === null) return reject(new Error('There is nothing to read'));
    createInterface({ input: err }).on('line', (line) => {
      log.push(line);
      const [, pid] = /^replica \d+ \(pid (\d+)\) on/.exec(line) ?? [];
      if (pid !== undefined) replicas.push(Number(pid));
    });
    createInterface({ input: out }).on('line', (line) => {
      if (line.startsWith('ready ')) resolve(line.slice('ready '.length));
    });
    child.once('exit', () => reject(new Error(`npm start ended:\n${log.join('\n')}`)));
  });
  return {
    url,
    killReplica() {
      const pid = replicas.shift();
      if (pid !== undefined) process.kill(pid, 'SIGKILL');
    },
    async stop() {
      const ended = once(child, 'close');
      if (child.exitCode === null && child.kill('SIGTERM')) await ended;
      rmSync(folder, { recursive: true });
    },
  };
}
