import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { makeBatonClient } from '../../../shared/client/baton-client.ts';
import { fileSession } from '../../../shared/client/node/session.ts';
import { memorySession, type Session } from '../../../shared/client/session/session.ts';
import { meOf } from './answers.ts';
import { fakeService } from './fake-service.ts';

/*
 * The session lies in a file for several processes. The tests show who holds its lock, what a crash leaves, and who can
 * read it.
 */

const BUILT = new URL('../../../dist/shared/client/node/session.js', import.meta.url).href;
const folder = mkdtempSync(join(tmpdir(), 'baton-session-'));
afterAll(() => rmSync(folder, { recursive: true }));

let count = 0;
const newPath = (): string => {
  const inside = join(mkdtempSync(join(folder, `${(count += 1)}-`)), 'config');
  return join(inside, 'session.json');
};

const session: Session = {
  ...{
    credential: 'v1.session.old',
    access_token: 'old',
    access_token_expires_at: 1,
    scope: 'full',
    persist: 'persist',
  },
  ...{ session_expires_at: 2, device: null, user: { user_id: 'ada', name: 'Ada' }, origins: ['https://service'] },
};

/** Starts a process that runs `body` with `session` (of the file), `path` and `fs`. */
function run(path: string, body: string) {
  const script = `import { fileSession } from '${BUILT}'; import * as fs from 'node:fs';
    const path = ${JSON.stringify(path)}; const session = fileSession(path); ${body}`;
  return spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: ['ignore', 'pipe', 'inherit'] });
}

const ADD = `
  for (let i = 0; i < 15; i++) await session.lock(async () => {
    const n = Number(fs.readFileSync(path + '.count', 'utf8'));
    await new Promise((resolve) => setTimeout(resolve, 1));
    fs.writeFileSync(path + '.count', String(n + 1));
  });`;

const longAgo = new Date(Date.now() - 60_000);

test.each([
  ['nothing', null],
  ['the lock of a process that died long ago on another machine', '4242 elsewhere x'],
  ['the lock of a process that has just died here', 'dead'],
])('of six processes that find %s one at a time holds the lock', async (_, left) => {
  const path = newPath();
  await fileSession(path).save(session);
  writeFileSync(`${path}.count`, '0');
  if (left === 'dead') {
    const child = run(path, '');
    await once(child, 'close');
    writeFileSync(`${path}.lock`, `${child.pid} ${hostname()} x`);
  } else if (left !== null) {
    writeFileSync(`${path}.lock`, left);
    utimesSync(`${path}.lock`, longAgo, longAgo);
  }
  const children = Array.from({ length: 6 }, () => run(path, ADD));
  expect(await Promise.all(children.map(async (child) => (await once(child, 'close'))[0]))).toEqual(Array(6).fill(0));
  expect(readFileSync(`${path}.count`, 'utf8')).toBe('90');
  expect(readdirSync(join(path, '..')).sort()).toEqual(['session.json', 'session.json.count']);
});

test('a process that was killed while it held the lock keeps nobody waiting', async () => {
  const path = newPath();
  await fileSession(path).save(session);
  const child = run(
    path,
    `await session.lock(() => { console.log('held'); return new Promise((r) => setTimeout(r, 60_000)); });`,
  );
  await once(child.stdout, 'data');
  child.kill('SIGKILL');
  await once(child, 'close');
  const started = Date.now();
  await fileSession(path).lock?.(async () => {});
  expect(Date.now() - started).toBeLessThan(5_000);
});

test('a lock that passed to another is not taken from it by whoever had it before', async () => {
  const path = newPath();
  const store = fileSession(path);
  await store.save(session);
  await store.lock?.(async () => writeFileSync(`${path}.lock`, 'another holder'));
  expect(readFileSync(`${path}.lock`, 'utf8')).toBe('another holder');
});

test('the file and its folder are for their owner, and a file that others could read is taken from them', async () => {
  const path = newPath();
  const store = fileSession(path);
  await store.save(session);
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(statSync(join(path, '..')).mode & 0o777).toBe(0o700);
  chmodSync(path, 0o644);
  expect(await store.load()).toEqual(session);
  expect(statSync(path).mode & 0o777).toBe(0o600);
});

test.each([
  '',
  '{',
  'null',
  '[]',
  '"x"',
  '{"credential":5}',
  JSON.stringify({ ...session, origins: 'https://service' }),
])('a file with %s is no session, and says which one it is', async (text) => {
  const path = newPath();
  await fileSession(path).save(session);
  writeFileSync(path, text);
  await expect(fileSession(path).load()).rejects.toThrow(path);
});

test('the secret in a file that a crash left is removed', async () => {
  const path = newPath();
  const store = fileSession(path);
  await store.save(session);
  const left = `${path}.${crypto.randomUUID()}`;
  writeFileSync(left, 'secret');
  await store.save(session);
  // The file may belong to another process that is still writing.
  expect(readFileSync(left, 'utf8')).toBe('secret');
  utimesSync(left, longAgo, longAgo);
  await store.save(session);
  expect(readdirSync(join(path, '..'))).toEqual(['session.json']);
  writeFileSync(left, 'secret');
  await store.clear();
  expect(readdirSync(join(path, '..'))).toEqual([]);
});

const renewed = {
  body: {
    ...{ access_token: 'new', token_type: 'Bearer', expires_in: 300, scope: 'full', persist: 'persist', device: null },
    ...{ session_expires_at: Date.now() + 7_200_000, user: { user_id: 'ada', name: 'Ada' } },
  },
  headers: { 'Set-Cookie': 'baton=v1.session.new' },
};

test('a session that cannot be stored is renewed by the secret that is, and its calls go on', async () => {
  const service = fakeService(({ path }) => (path === '/api/auth/refresh' ? renewed : { body: meOf() }));
  const kept = memorySession({ ...session, access_token_expires_at: Date.now() - 1 });
  const full = { ...kept, save: () => Promise.reject(new Error('no space left on device')) };
  const baton = makeBatonClient({ baseUrl: 'https://service', session: full, fetch: service.fetch });
  const problems: string[] = [];
  baton.on('problem', ({ message }) => problems.push(message));
  await baton.devices.list().catch(() => {});
  expect(service.asked.map(({ path }) => path)).toEqual(['/api/auth/refresh', '/api/devices']);
  expect(service.asked.at(-1)?.headers.get('authorization')).toBe('Bearer new');
  expect(problems).toEqual(['no space left on device']);
  expect(await kept.load()).toMatchObject({ credential: 'v1.session.old' });
});

test('the end of a session does not remove the one that was signed in since', async () => {
  const refusal = { status: 401, body: { status: 401, code: 'session_revoked' } };
  const service = fakeService(() => refusal);
  const device = { device_id: 'laptop-0001', name: 'Laptop', type: 'linux' } as const;
  const old = { ...session, device, access_token_expires_at: Date.now() + 300_000 };
  const store = memorySession(old);
  const baton = makeBatonClient({ baseUrl: 'https://service', session: store, fetch: service.fetch });
  await baton.session();
  const anew = { ...old, device: { ...device, device_id: 'laptop-0002' }, credential: 'v1.another.secret' };
  await store.save(anew);
  await expect(baton.me()).rejects.toMatchObject({ action: 'sign-in' });
  expect(await store.load()).toEqual(anew);
});

test('it is built', () => {
  expect(statSync(fileURLToPath(BUILT)).isFile()).toBe(true);
});
