import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../../../deploy/local/setup/redis.mjs';
import { fakeTimeEnv, findFakeTime } from '../../chaos/stores/fake-time.ts';
import { RedisLink } from './redis-link.ts';

/** The clock is written with every command, so its disk should be memory. */
const MEMORY_DISK = '/dev/shm';

/**
 * The store hashes with a secret of its own, so that the order of a hash that is not packed differs from server to server.
 * Packed hashes keep the order in which fields were added.
 */
const PACKED = ['--hash-max-listpack-entries', '100000', '--hash-max-listpack-value', '1000000'];

/** The real store of simulations. Its clock stands still until it is set. */
export interface StoreProcess {
  readonly port: number;
  /** A connection that no replica has. */
  readonly admin: RedisLink;
  /** Sets its clock, to Unix microseconds. */
  setClock(us: number): void;
  stop(): Promise<void>;
}

const textOf = (us: number): string =>
  `${new Date(us / 1_000).toISOString().slice(0, 19).replace('T', ' ')}.${String(us % 1_000_000).padStart(6, '0')}\n`;

export async function startStoreProcess(redisServer: string): Promise<StoreProcess> {
  const library = findFakeTime();
  if (library === null) throw new Error('libfaketime is missing: install the package faketime');
  const folder = mkdtempSync(join(existsSync(MEMORY_DISK) ? MEMORY_DISK : tmpdir(), 'baton-simulate-'));
  const [file, next] = [join(folder, 'clock'), join(folder, 'clock.next')];
  const setClock = (us: number): void => {
    writeFileSync(next, textOf(us));
    // A reader sees either the old time or the new one, never a part of one.
    renameSync(next, file);
  };
  setClock(Date.now() * 1_000);
  const port = await freePort();
  const settings = ['--port', String(port), '--bind', '127.0.0.1', '--dir', folder, '--save', '', '--appendonly', 'no'];
  const { LD_PRELOAD } = fakeTimeEnv(library, 1);
  const clock = {
    LD_PRELOAD,
    FAKETIME_TIMESTAMP_FILE: file,
    FAKETIME_NO_CACHE: '1',
    DONT_FAKE_MONOTONIC: '1',
    TZ: 'UTC',
  };
  const child: ChildProcess = spawn(redisServer, [...settings, ...PACKED], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { PATH: process.env.PATH, ...clock },
  });
  // The store ends with this process, however it ends.
  const kill = (): void => {
    child.kill('SIGKILL');
    rmSync(folder, { recursive: true, force: true });
  };
  process.once('exit', kill);
  await new Promise<void>((resolve, reject) => {
    child.once('close', () => reject(new Error('redis-server ended')));
    child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      if (text.includes('Ready to accept connections')) resolve();
    });
  });
  const admin = await RedisLink.open(port);
  return {
    port,
    admin,
    setClock,
    async stop() {
      admin.close();
      process.off('exit', kill);
      const closed = once(child, 'close');
      child.kill('SIGKILL');
      await closed;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
