import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../../../deploy/local/setup/redis.mjs';

/** A Redis of one test, which the test can pause, kill, restart or empty. */
export interface OwnRedis {
  readonly url: string;
  pause(): void;
  resume(): void;
  kill(): Promise<void>;
  /** Starts it again on the same port, with its durable data. */
  start(): Promise<void>;
  /** Removes the limit of `diskBytes`, as if the disk had free space again. */
  clearDisk(): void;
  stop(): Promise<void>;
}

/** Limits files in blocks of 512 bytes, as a shell counts them. A write beyond fails as on a full disk, without a signal. */
const onSmallDisk = (bytes: number) => ['-c', `trap '' XFSZ; ulimit -S -f ${Math.ceil(bytes / 512)}; exec "$0" "$@"`];

interface OwnRedisOptions {
  /** Puts every write on disk before its reply, so that a kill loses nothing. */
  persistent?: boolean;
  /** Largest size of a file. Beyond it Redis answers MISCONF. Its writes reach the disk within a second. */
  diskBytes?: number;
}

export async function startOwnRedis({ persistent = true, diskBytes }: OwnRedisOptions = {}): Promise<OwnRedis> {
  const port = await freePort();
  const folder = mkdtempSync(join(tmpdir(), 'baton-test-redis-'));
  let child: ChildProcess | null = null;

  const end = async (signal: NodeJS.Signals) => {
    if (!child) return;
    const closed = once(child, 'close');
    child.kill(signal);
    await closed;
    child = null;
  };
  const redis: OwnRedis = {
    url: `redis://127.0.0.1:${port}`,
    pause: () => child?.kill('SIGSTOP'),
    resume: () => child?.kill('SIGCONT'),
    kill: () => end('SIGKILL'),
    async start() {
      // A full disk ends Redis with `always`.
      const fsync = diskBytes === undefined ? 'always' : 'everysec';
      const persistence = persistent ? ['--appendonly', 'yes', '--appendfsync', fsync] : ['--appendonly', 'no'];
      const settings = ['--port', String(port), '--bind', '127.0.0.1', '--dir', folder, '--save', '', ...persistence];
      const server = process.env.APP_TEST_REDIS_SERVER ?? 'redis-server';
      const isLimited = diskBytes !== undefined;
      const args = isLimited ? [...onSmallDisk(diskBytes), server, ...settings] : settings;
      const started = spawn(isLimited ? 'sh' : server, args, {
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      child = started;
      started.stdout.setEncoding('utf8');
      await new Promise<void>((resolve, reject) => {
        started.once('close', () => reject(new Error('redis-server ended')));
        started.stdout.on('data', (text: string) => {
          if (text.includes('Ready to accept connections')) resolve();
        });
      });
    },
    clearDisk() {
      execFileSync('prlimit', [`--pid=${child?.pid}`, '--fsize=unlimited:']);
    },
    async stop() {
      child?.kill('SIGCONT');
      await end('SIGKILL');
      rmSync(folder, { recursive: true, force: true });
    },
  };
  await redis.start();
  return redis;
}
