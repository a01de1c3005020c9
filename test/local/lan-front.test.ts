import { type ChildProcess, spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, get, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Lan, startLan } from '../../deploy/local/start/lan.mjs';
import { freePort } from '../../deploy/local/setup/redis.mjs';

/* Tests the https address of `npm start -- --lan` while replicas die. */

const START = fileURLToPath(new URL('../../deploy/local/start.mjs', import.meta.url));

/** The first of four ports in a row, which no other test takes. */
const first = randomInt(2_400, 2_475) * 4;

const folder = mkdtempSync(join(tmpdir(), 'baton-lan-test-'));
const started: ChildProcess[] = [];
const fronts: Lan[] = [];
const servers: ReturnType<typeof createServer>[] = [];

afterEach(async () => {
  for (const front of fronts.splice(0)) front.stop();
  for (const server of servers.splice(0)) server.close();
  for (const child of started.splice(0)) {
    if (child.exitCode !== null) continue;
    const ended = once(child, 'close');
    child.kill('SIGTERM');
    await ended;
  }
});
afterAll(() => rmSync(folder, { recursive: true }));

interface Sent {
  port: number;
  path: string;
  method?: string;
  headers?: Record<string, string>;
  body?: string;
}

/** Makes a request over https that accepts any certificate. Resolves with the head of the answer. */
function open({ body = '', ...sent }: Sent): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const at = { host: '127.0.0.1', agent: false, rejectUnauthorized: false, ...sent };
    httpsRequest(at, resolve).on('error', reject).end(body);
  });
}

async function ask(sent: Sent): Promise<{ status: number | undefined; text: string }> {
  const answer = await open(sent);
  let text = '';
  for await (const chunk of answer) text += String(chunk);
  return { status: answer.statusCode, text };
}

/** Starts a server that answers with the body of the request. */
async function startEcho(): Promise<number> {
  const server = createServer((req, res) => void req.pipe(res));
  servers.push(server);
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return (server.address() as AddressInfo).port;
}

async function startFront(replicaPorts: number[]): Promise<{ port: number; front: Lan }> {
  const port = await freePort();
  const front = await startLan({ address: '127.0.0.1', port, replicaPorts, brokerPort: null });
  fronts.push(front);
  return { port, front };
}

test('what a replica does not take any more goes to the other, with its body', async () => {
  const { port } = await startFront([await freePort(), await startEcho()]);
  for (let i = 0; i < 6; i++) {
    expect(await ask({ port, path: '/', method: 'POST', body: `body ${i}` })).toEqual({
      status: 200,
      text: `body ${i}`,
    });
  }
});

test('a replica that has left is not asked, and with none there is an answer', async () => {
  const [echo, other] = [await startEcho(), await startEcho()];
  const { port, front } = await startFront([echo, other]);
  front.leave(echo);
  servers[0]?.close();
  expect((await ask({ port, path: '/', method: 'POST', body: 'a' })).text).toBe('a');
  front.leave(other);
  expect(await ask({ port, path: '/' })).toMatchObject({ status: 502, text: expect.stringContaining('went away') });
});

test('whoever comes to that port without TLS is told what the browser will warn of, and where to go on', async () => {
  const { port, front } = await startFront([await startEcho()]);
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    const headers = { 'Accept-Language': 'de-DE,de;q=0.9' };
    get({ host: '127.0.0.1', port, path: '/anything', agent: false, headers }, resolve).on('error', reject);
  });
  let page = '';
  for await (const chunk of answer) page += String(chunk);
  expect(answer.headers['content-security-policy']).toMatch(/^default-src 'none'; style-src 'sha256-/);
  expect(page).toContain('<html lang="de">');
  expect(page).toContain(`href="https://127.0.0.1:${port}/"`);
  expect(page).toContain(front.fingerprint);
  expect((await ask({ port, path: '/', method: 'POST', body: 'over TLS' })).text).toBe('over TLS');
});

test('npm start -- --lan goes on when a replica is killed, its streams too, and says so in the terminal', async () => {
  const port = await freePort();
  const env = {
    ...{ PATH: process.env.PATH, TMPDIR: folder, APP_DATA_DIR: join(folder, 'data'), APP_IDENTITY: 'dev' },
    ...{ APP_PORT: String(first), APP_ADMIN_PORT: String(first + 2) },
    ...{ APP_LAN_ADDRESS: '127.0.0.1', APP_LAN_PORT: String(port) },
  };
  const child = spawn(process.execPath, [START, '--lan'], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  started.push(child);
  let said = '';
  child.stderr.on('data', (text) => (said += String(text)));
  await once(child.stdout, 'data');
  const pid = Number(/replica 2 \(pid (\d+)\)/.exec(said)?.[1]);

  const caller = (device: string) => ({ 'X-Dev-User': 'ann', 'X-Dev-Device': device, 'X-Dev-Name': device });
  const stream = async (device: string) => {
    const answer = await open({ port, path: '/api/hub/events', headers: caller(device) });
    const ended = new Promise((resolve) => answer.once('close', () => resolve(true)).on('error', () => undefined));
    const [chunk] = (await once(answer, 'data')) as [Buffer];
    return { answer, ended, head: `${answer.statusCode} ${String(chunk)}` };
  };
  // They open one after the other, so that each replica has one of them.
  const streams = [await stream('laptop-0001'), await stream('phone-00001')];
  for (const { head } of streams) expect(head).toMatch(/^200 [^]*event: ready/);

  process.kill(pid, 'SIGKILL');
  await Promise.race(streams.map(({ ended }) => ended));
  const again = await stream('phone-00001');
  expect(again.head).toMatch(/^200 [^]*event: ready/);
  const asked: (number | undefined)[] = [];
  for (let i = 0; i < 8; i++) {
    const headers = {
      ...caller('laptop-0001'),
      'Content-Type': 'application/json',
      Origin: `https://127.0.0.1:${port}`,
    };
    const body = JSON.stringify({ content: `copy ${i}`, content_type: 'text/plain' });
    asked.push((await ask({ port, path: '/api/clipboard', method: 'PUT', headers, body })).status);
    asked.push((await ask({ port, path: '/api/me', headers: caller('laptop-0001') })).status);
  }
  expect(asked.filter((status) => status !== 200)).toEqual([]);
  expect(said).toMatch(new RegExp(`[█▀▄]{20}[^]*type http://127.0.0.1:${port}\n`));
  expect(said).toContain(`replica 2 (pid ${pid}) was killed (SIGKILL); the others go on\n`);
  for (const { answer } of [...streams, again]) answer.destroy();
});
