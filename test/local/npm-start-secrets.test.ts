import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePort } from '../../deploy/local/setup/redis.mjs';
import { connectTo } from '../support/redis/redis.ts';

/*
 * Tests what `npm start` keeps secret from other users of the machine, who can reach loopback and see every command line.
 */

const START = fileURLToPath(new URL('../../deploy/local/start.mjs', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'baton secrets-'));
const secretFile = join(folder, 'data', 'broker-secret');

interface Running {
  process: ChildProcess;
  said: () => string;
  /** The process ids of the store, the broker and the replica. */
  pids: number[];
  storeUrl: string;
}

const running: ChildProcess[] = [];

async function start(): Promise<Running> {
  const [port, adminPort, brokerPort] = [await freePort(), await freePort(), await freePort()];
  const env = {
    ...{ PATH: process.env.PATH, TMPDIR: folder, APP_DATA_DIR: join(folder, 'data'), APP_REPLICAS: '1' },
    ...{ APP_PORT: String(port), APP_ADMIN_PORT: String(adminPort), BROKER_PORT: String(brokerPort) },
  };
  const child = spawn(process.execPath, [START], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  running.push(child);
  let said = '';
  const ready = new Promise<void>((resolve, reject) => {
    child.stdout.on('data', (chunk) => {
      said += String(chunk);
      resolve();
    });
    child.once('close', () => reject(new Error(said)));
  });
  child.stderr.on('data', (chunk) => (said += String(chunk)));
  await ready;
  const pids = [...said.matchAll(/\(pid (\d+)\) on /g)].map(([, pid]) => Number(pid));
  return { process: child, said: () => said, pids, storeUrl: /(redis:\S+)/.exec(said)?.[1] ?? '' };
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return;
  child.kill('SIGINT');
  await once(child, 'close');
}

afterAll(async () => {
  for (const child of running) await stop(child);
  rmSync(folder, { recursive: true });
});

const commandLine = (pid: number): string => readFileSync(`/proc/${pid}/cmdline`, 'utf8');
const environment = (pid: number): Map<string, string> =>
  new Map(
    readFileSync(`/proc/${pid}/environ`, 'utf8')
      .split('\0')
      .map((pair) => [pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1)]),
  );

test('its store asks for a password that is on no command line and is not printed; the keys in it are encrypted', async () => {
  const first = await start();
  const [storePid = 0, brokerPid = 0, replicaPid = 0] = first.pids;
  const url = environment(replicaPid).get('APP_REDIS_URL') ?? '';
  const { password } = new URL(url);
  expect(password.length).toBeGreaterThanOrEqual(32);
  expect(environment(brokerPid).get('BROKER_REDIS_URL')).toBe(url);

  const stranger = connectTo(first.storeUrl).on('error', () => {});
  await expect(stranger.keys('*')).rejects.toThrow(/NOAUTH/);
  stranger.disconnect();

  const secret = readFileSync(secretFile, 'utf8').trim();
  expect(secret).toMatch(/^[0-9a-f]{64}$/);
  expect((statSync(secretFile).mode & 0o777).toString(8)).toBe('600');
  const exposed = [storePid, brokerPid, replicaPid, first.process.pid ?? 0].map(commandLine).concat(first.said());
  for (const text of exposed) for (const hidden of [password, secret]) expect(text).not.toContain(hidden);

  const store = connectTo(url);
  const keys = JSON.stringify(await store.hgetall('broker:{sys}:keys'));
  store.disconnect();
  expect(keys).toContain('a256gcm:');
  expect(keys).not.toMatch(/plain:|private/);
  await stop(first.process);

  chmodSync(secretFile, 0o644);
  const second = await start();
  expect(environment(second.pids[1] ?? 0).get('BROKER_SECRET_FILE')).toBe(secretFile);
  expect(readFileSync(secretFile, 'utf8').trim()).toBe(secret);
  expect((statSync(secretFile).mode & 0o777).toString(8)).toBe('600');
  expect(environment(second.pids[2] ?? 0).get('APP_REDIS_URL')).not.toBe(url);
});

test('a secret of the broker that cannot be read, or is none, is said in one line', async () => {
  await Promise.all(running.map(stop));
  rmSync(secretFile);
  mkdirSync(secretFile);
  await expect(start()).rejects.toThrow(/^npm start: .*broker-secret holds .* cannot be read \(EISDIR\)[^\n]*\n$/m);
  rmSync(secretFile, { recursive: true });
  writeFileSync(secretFile, 'short\n');
  await expect(start()).rejects.toThrow(/^npm start: .*broker-secret holds no secret: remove it\n$/m);
});
