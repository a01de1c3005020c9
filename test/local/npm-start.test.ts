import { type ChildProcess, spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { fileURLToPath } from 'node:url';

const START = fileURLToPath(new URL('../../deploy/local/start.mjs', import.meta.url));

/** Below the ports that systems give out by themselves, so that two in a row are free. */
const port = randomInt(10_000, 14_000) * 2;
const adminPort = port + 8_000;
const urls = [`http://localhost:${port}`, `http://localhost:${port + 1}`] as const;

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
  const env = { PATH: process.env.PATH, APP_PORT: String(port), APP_ADMIN_PORT: String(adminPort) };
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

afterEach(async () => {
  for (const start of running) {
    start.process.kill('SIGTERM');
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
  expect((await fetch(`${urls[0]}/healthz`)).status).toBe(200);

  start.process.kill('SIGINT');
  expect(await start.ended).toBe(0);
  expect(pids.filter(isAlive)).toEqual([]);
  expect(start.stdout()).toBe(`ready ${urls.join(' ')}\n`);
});

test('the replicas end when it is killed hard', async () => {
  const start = npmStart();
  await once(start.process.stdout ?? start.process, 'data');
  const [redis, ...replicas] = pidsOf(start);
  start.process.kill('SIGKILL');
  // The replicas hold the other ends of its pipes: these close when the last of them is gone.
  await start.ended;
  expect(replicas.filter(isAlive)).toEqual([]);
  process.kill(redis ?? 0, 'SIGKILL');
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
