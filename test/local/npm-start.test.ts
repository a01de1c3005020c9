import { type ChildProcess, spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const START = fileURLToPath(new URL('../../deploy/local/start.mjs', import.meta.url));

/**
 * This is below the ports that systems assign by themselves, so that four in a row are free. No other test takes 16,000 to
 * 20,000.
 */
const port = randomInt(4_000, 4_500) * 4;
const adminPort = port + 2_000;
const brokerPort = port + 2;
const lanPort = port + 3;
const urls = [`http://localhost:${port}`, `http://localhost:${port + 1}`] as const;

/** The folder for its store, so that a hard end leaves nothing behind here either. */
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

function npmStart(more: Record<string, string> = {}, ...args: string[]): Start {
  const env = {
    ...more,
    PATH: process.env.PATH,
    TMPDIR: folder,
    APP_DATA_DIR: join(folder, 'data'),
    APP_PORT: String(port),
    APP_ADMIN_PORT: String(adminPort),
    BROKER_PORT: String(brokerPort),
  };
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

/** The processes that it named on stderr, in order: the store, the broker, then the replicas. */
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

/** Whatever went wrong, no process that was started here outlives its test. */
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
  expect(pids).toHaveLength(4);

  process.kill(pids[3] ?? 0, 'SIGKILL');
  await start.says(`replica 2 (pid ${pids[3]}) was killed (SIGKILL); the others go on`);
  expect(await isServing(urls[0])).toBe(true);

  start.process.kill('SIGINT');
  expect(await start.ended).toBe(0);
  expect(pids.filter(isAlive)).toEqual([]);
  expect(start.stdout()).toBe(`ready ${urls.join(' ')}\n`);
});

test('its replicas say that they are one installation, with the address that was asked first', async () => {
  const start = npmStart({ APP_PUBLIC_ORIGINS: 'https://tunnel.example' });
  await once(start.process.stdout ?? start.process, 'data');
  const login = await fetch(`http://localhost:${brokerPort}/login/dev`, {
    method: 'POST',
    redirect: 'manual',
    body: new URLSearchParams({ user: 'ada', return_to: `${urls[0]}/` }),
  });
  const headers = { Cookie: (login.headers.get('set-cookie') ?? '').split(';')[0] ?? '' };
  const me = async (url: string) => (await fetch(`${url}/api/me`, { headers })).json();
  const [one, two] = await Promise.all(urls.map(me));
  expect(one).toMatchObject({ service: urls[0], origins: [...urls, 'https://tunnel.example'] });
  expect(two).toMatchObject({ service: urls[0], origins: [urls[1], urls[0], 'https://tunnel.example'] });
  start.process.kill('SIGINT');
  expect(await start.ended).toBe(0);
});

test('the replicas end when it is killed hard, too', async () => {
  const start = npmStart();
  await once(start.process.stdout ?? start.process, 'data');
  const [redis] = pidsOf(start);
  start.process.kill('SIGKILL');
  process.kill(redis ?? 0, 'SIGKILL');
  // These processes have lost their parent, so there is no event to wait for.
  const local = (at: number) => `http://127.0.0.1:${at}`;
  const all = [...urls, local(adminPort), local(adminPort + 1), local(brokerPort)];
  const serving = async () => (await Promise.all(all.map(isServing))).includes(true);
  while (await serving()) await new Promise((resolve) => setTimeout(resolve, 20));
  expect(await serving()).toBe(false);
});

test('the end of the store is the end of everything', async () => {
  const start = npmStart();
  await once(start.process.stdout ?? start.process, 'data');
  const [redis, ...services] = pidsOf(start);
  process.kill(redis ?? 0, 'SIGKILL');
  expect(await start.ended).toBe(1);
  expect(start.stderr()).toContain(`redis (pid ${redis}) was ended (SIGKILL); nothing can go on without it`);
  expect(services.filter(isAlive)).toEqual([]);
});

test('the end of the broker is the end of everything', async () => {
  const start = npmStart();
  await once(start.process.stdout ?? start.process, 'data');
  const pids = pidsOf(start);
  process.kill(pids[1] ?? 0, 'SIGKILL');
  expect(await start.ended).toBe(1);
  expect(start.stderr()).toContain(`broker (pid ${pids[1]}) was killed (SIGKILL); nobody can sign in without it`);
  expect(pids.filter(isAlive)).toEqual([]);
});

test('a login at the broker is a session at each replica, and leads back to either', async () => {
  const start = npmStart();
  await once(start.process.stdout ?? start.process, 'data');
  for (const url of urls) {
    const login = await fetch(`http://localhost:${brokerPort}/login/dev`, {
      method: 'POST',
      body: new URLSearchParams({ user: 'ann', return_to: `${url}/` }),
      redirect: 'manual',
    });
    expect([login.status, login.headers.get('location')]).toEqual([303, `${url}/`]);
    const Cookie = login.headers.getSetCookie()[0]?.split(';')[0] ?? '';
    for (const replica of urls) {
      const me = await fetch(`${replica}/api/me`, { headers: { Cookie } });
      expect(await me.json()).toMatchObject({ user_id: 'ann', device: null });
      expect((await fetch(`${replica}/api/me`, { headers: { 'X-Dev-User': 'ann' } })).status).toBe(401);
    }
  }
  start.process.kill('SIGTERM');
  expect(await start.ended).toBe(0);
});

test('another identity is taken from the environment, and needs no broker', async () => {
  const start = npmStart({ APP_IDENTITY: 'dev' });
  await once(start.process.stdout ?? start.process, 'data');
  expect(pidsOf(start)).toHaveLength(3);
  expect((await fetch(`${urls[0]}/api/me`, { headers: { 'X-Dev-User': 'ann' } })).status).toBe(200);
  start.process.kill('SIGTERM');
  expect(await start.ended).toBe(0);
});

test('the key of web push is the same after a restart, so that browsers stay subscribed', async () => {
  const headers = { 'X-Dev-User': 'ann', 'X-Dev-Device': 'laptop-0001' };
  const keyOf = async () => {
    const start = npmStart({ APP_IDENTITY: 'dev', APP_REPLICAS: '1' });
    await once(start.process.stdout ?? start.process, 'data');
    const config = (await (await fetch(`${urls[0]}/api/push/config`, { headers })).json()) as Record<string, unknown>;
    start.process.kill('SIGINT');
    await start.ended;
    return config['vapid_public_key'];
  };
  const key = await keyOf();
  expect(key).toMatch(/^B[\w-]{86}$/);
  expect(await keyOf()).toBe(key);
});

test('taken ports are named with their keys before anything is started', async () => {
  const taken = [port + 1, adminPort, brokerPort];
  const servers = taken.map((one) => createServer().listen(one, '127.0.0.1'));
  await Promise.all(servers.map((server) => once(server, 'listening')));
  const start = npmStart();
  expect(await start.ended).toBe(1);
  expect(start.stderr()).toBe(
    `npm start: port ${port + 1} (APP_PORT + 1) is taken: set APP_PORT to another.\n` +
      `npm start: port ${adminPort} (APP_ADMIN_PORT) is taken: set APP_ADMIN_PORT to another.\n` +
      `npm start: port ${brokerPort} (BROKER_PORT) is taken: set BROKER_PORT to another.\n`,
  );
  expect(start.stdout()).toBe('');
  for (const server of servers) server.close();
});

/** Makes a request over https that accepts any certificate. */
function lanRequest(path: string, { method = 'GET', headers = {}, body = '' }: Partial<LanRequest> = {}) {
  return new Promise<IncomingMessage & { text: string }>((resolve, reject) => {
    const at = { host: '127.0.0.1', port: lanPort, path, method, headers, agent: false, rejectUnauthorized: false };
    const sent = httpsRequest(at, (answer) => {
      let text = '';
      answer.on('data', (chunk: Buffer) => void (text += chunk.toString()));
      answer.on('end', () => resolve(Object.assign(answer, { text })));
    });
    sent.on('error', reject).end(body);
  });
}

interface LanRequest {
  method: string;
  headers: Record<string, string>;
  body: string;
}

test('--lan is one https address, with the login on it, and says who can get in', async () => {
  const lan = `https://127.0.0.1:${lanPort}`;
  const start = npmStart({ APP_LAN_ADDRESS: '127.0.0.1', APP_LAN_PORT: String(lanPort) }, '--lan');
  await once(start.process.stdout ?? start.process, 'data');
  expect(start.stdout()).toBe(`ready ${lan}\n`);
  expect(start.stderr()).toContain('ANYBODY on it may log in under any name');

  const headers = { 'Content-Type': 'application/x-www-form-urlencoded', Origin: lan };
  const login = await lanRequest('/login/dev', { method: 'POST', headers, body: 'user=ann' });
  expect([login.statusCode, login.headers.location]).toEqual([303, `${lan}/`]);
  const [cookie = ''] = login.headers['set-cookie'] ?? [];
  expect(cookie).toMatch(/^__Host-baton=.*; Secure/);
  const Cookie = cookie.split(';')[0] ?? '';
  expect(JSON.parse((await lanRequest('/api/me', { headers: { Cookie } })).text)).toMatchObject({ user_id: 'ann' });
  const cleared = await lanRequest('/api/clipboard', { method: 'DELETE', headers: { Cookie, Origin: lan } });
  expect(cleared.statusCode).toBe(204);
  expect((await lanRequest('/v1/sessions')).statusCode).toBe(404);

  start.process.kill('SIGINT');
  expect(await start.ended).toBe(0);
});

test('an unknown argument is refused in a plain sentence', async () => {
  const start = npmStart({}, '--wan');
  expect(await start.ended).toBe(1);
  expect(start.stderr()).toBe('npm start: unknown argument --wan; everything but --lan is set by the environment.\n');
});
