import { type ChildProcess, spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const START = fileURLToPath(new URL('../../deploy/local/start.mjs', import.meta.url));

/** Below the ports that systems give out by themselves, so that two in a row are free. */
const port = randomInt(10_000, 14_000) * 2;
const adminPort = port + 8_000;
const urls = [`http://localhost:${port}`, `http://localhost:${port + 1}`] as const;

/** Where it puts its store, so that a hard end leaves nothing behind here either. */
const folder = mkdtempSync(join(tmpdir(), 'baton-start-'));
afterAll(() => rmSync(folder, { recursive: true }));

interface Start {
  process: ChildProcess;
  stdout: () => string;
  stderr: () => string;
  /** Resolves when stderr holds `text`, at once when it does already. */
  says: (text: string) => Promise<void>;
  /** Resolves to the exit code. */
  ended: Promise<number | null>;
}

const running = new Set<Start>();

function npmStart(...args: string[]): Start {
  const env = { PATH: process.env.PATH, TMPDIR: folder, APP_PORT: String(port), APP_ADMIN_PORT: String(adminPort) };
  const child = spawn(process.execPath, [START, ...args], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  let [out, err] = ['', ''];
  child.stdout.on('data', (chunk) => (out += String(chunk)));
  child.stderr.on('data', (chunk) => (err += String(chunk)));
  const says = async (text: string) => {
    while (!err.includes(text)) await once(child.stderr, 'data');
  };
  const ended = once(child, 'close').then(([code]) => code as number | null);
  const start = { process: child, stdout: () => out, stderr: () => err, says, ended };
  running.add(start);
  void ended.then(() => running.delete(start));
  return start;
}

/** The processes that it named on stderr, in order: the store, then the replicas. */
const pidsOf = (start: Start) => [...start.stderr().matchAll(/\(pid (\d+)\) on /g)].map(([, pid]) => Number(pid));

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

const isServing = (url: string) =>
  fetch(`${url}/healthz`).then(
    () => true,
    () => false,
  );

/** Whatever went wrong, nothing that was started here outlives its test. */
afterEach(async () => {
  for (const start of running) {
    for (const pid of [start.process.pid, ...pidsOf(start)])
      if (pid !== undefined && isAlive(pid)) process.kill(pid, 'SIGKILL');
    await start.ended;
  }
});

test('it says ready in one line, outlives the kill of a replica, and takes every child with it', async () => {
  const start = npmStart();
  await once(start.process.stdout ?? start.process, 'data');
  expect(start.stdout()).toBe(`ready ${urls.join(' ')}\n`);
  const pids = pidsOf(start);
  expect(pids).toHaveLength(3);

  process.kill(pids[2] ?? 0, 'SIGKILL');
  await start.says(`replica 2 (pid ${pids[2]}) was killed (SIGKILL); the others go on`);
  expect(await isServing(urls[0])).toBe(true);

  start.process.kill('SIGINT');
  expect(await start.ended).toBe(0);
  expect(pids.filter(isAlive)).toEqual([]);
  expect(start.stdout()).toBe(`ready ${urls.join(' ')}\n`);
});

test('the replicas end when it is killed hard, too', async () => {
  const start = npmStart();
  await once(start.process.stdout ?? start.process, 'data');
  const [redis] = pidsOf(start);
  start.process.kill('SIGKILL');
  process.kill(redis ?? 0, 'SIGKILL');
  // They are nobody's children now, so there is no event to wait for.
  const serving = async () => (await Promise.all(urls.map(isServing))).includes(true);
  while (await serving()) await new Promise((resolve) => setTimeout(resolve, 20));
  expect(await serving()).toBe(false);
});

test('the end of the store is the end of everything', async () => {
  const start = npmStart();
  await once(start.process.stdout ?? start.process, 'data');
  const [redis, ...replicas] = pidsOf(start);
  process.kill(redis ?? 0, 'SIGKILL');
  expect(await start.ended).toBe(1);
  expect(start.stderr()).toContain(`redis (pid ${redis}) was ended (SIGKILL); nothing can go on without it`);
  expect(replicas.filter(isAlive)).toEqual([]);
});

test('taken ports are named with their keys before anything is started', async () => {
  const servers = [createServer().listen(port + 1, '127.0.0.1'), createServer().listen(adminPort, '127.0.0.1')];
  await Promise.all(servers.map((server) => once(server, 'listening')));
  const start = npmStart();
  expect(await start.ended).toBe(1);
  expect(start.stderr()).toBe(
    `npm start: port ${port + 1} (APP_PORT + 1) is taken: set APP_PORT to another.\n` +
      `npm start: port ${adminPort} (APP_ADMIN_PORT) is taken: set APP_ADMIN_PORT to another.\n`,
  );
  expect(start.stdout()).toBe('');
  for (const server of servers) server.close();
});

test('--lan is refused in a plain sentence', async () => {
  const start = npmStart('--lan');
  expect(await start.ended).toBe(1);
  expect(start.stderr()).toBe('npm start: --lan is not there yet: it comes with the web client.\n');
});
