import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { type CliSite, startCliSite, type Terminal } from './terminal.ts';

/* A session belongs to one service, and an address to another. */

let cli: CliSite;
let laptop: Terminal;
let other: Server;
let otherUrl: string;
const heard: IncomingMessage[] = [];
/** The answers of the other service, which would take the session and give one of its own. */
let answer: { status: number; body: unknown; headers?: Record<string, string> };

beforeAll(async () => {
  cli = await startCliSite();
  [laptop] = (await cli.devices('Laptop')) as [Terminal];
  other = createServer((req, res) => {
    heard.push(req);
    res.writeHead(answer.status, { 'Content-Type': 'application/json', ...answer.headers });
    res.end(JSON.stringify(answer.body));
  }).listen(0, '127.0.0.1');
  await once(other, 'listening');
  otherUrl = `http://127.0.0.1:${(other.address() as AddressInfo).port}`;
});
afterAll(async () => {
  other.close();
  await cli.stop();
});
beforeEach(() => {
  heard.length = 0;
  const tokens = { access_token: 'evil', token_type: 'Bearer', expires_in: 300, scope: 'full', persist: 'persist' };
  const body = {
    ...tokens,
    session_expires_at: Date.now() + 1_000_000,
    device: null,
    user: { user_id: 'e', name: 'E' },
  };
  answer = { status: 200, body, headers: { 'Set-Cookie': 'baton=v1.evil.secret' } };
});

const keptBy = ({ config }: Terminal): string => readFileSync(join(config, 'session.json'), 'utf8');
const withUrl = (url: string) => ({ env: { BATON_URL: url } });

test.each([
  ['status'],
  ['devices'],
  ['devices', '--watch'],
  ['inbox'],
  ['inbox', '--follow'],
  ['paste'],
  ['copy'],
  ['message', 'Phone', 'x'],
  ['receive', '--yes'],
  ['send', 'a-file', '--to', 'Phone'],
  ['send', '--continue'],
  ['watch'],
  ['logout'],
])('%s %s sends nothing to another service, says whose the session is, and keeps it', async (...args) => {
  writeFileSync(join(laptop.folder, 'a-file'), 'x');
  const before = keptBy(laptop);
  // If the session has expired, its credential would be sent first.
  const expired = JSON.stringify({ ...(JSON.parse(before) as object), access_token_expires_at: 1 });
  for (const kept of [before, expired]) {
    writeFileSync(join(laptop.config, 'session.json'), kept);
    const run = laptop.run(args.filter(Boolean), withUrl(otherUrl));
    expect(await run.status).toBe(2);
    expect(run.stderr()).toContain(cli.door.url);
    expect(run.stderr()).toContain('BATON_URL');
    expect(keptBy(laptop)).toBe(kept);
  }
  writeFileSync(join(laptop.config, 'session.json'), before);
  expect(heard).toEqual([]);
});

test.each([
  'http://localhost.evil.example',
  'https://localhost',
  'http://user@localhost',
  'nonsense',
  'file:///etc/passwd',
])('%s is no address for it either', async (url) => {
  const run = laptop.run(['status'], withUrl(url));
  expect(await run.status).not.toBe(0);
  expect(run.stderr()).toMatch(/^baton: /);

  // The service did not learn of it.
  const kept = keptBy(laptop);
  expect(await laptop.run(['logout'], withUrl(url)).status).not.toBe(0);
  expect(keptBy(laptop)).toBe(kept);
});

test.each([
  'nonsense',
  'baton.example.com',
  'file:///etc/passwd',
  'http://user:s3cret@localhost',
  'http://localhost:1/?token=s3cret',
])('BATON_URL=%s is wrong use of every command, and is not repeated', async (url) => {
  for (const args of [['status'], ['login'], ['devices', '--json']]) {
    const run = laptop.run(args, withUrl(url));
    expect(await run.status).toBe(2);
    expect(run.stderr()).toContain('BATON_URL is not the address of a service');
    expect(run.stderr()).not.toContain('s3cret');
  }
});

test('without an address it asks where it signed in', async () => {
  const run = laptop.run(['status', '--json'], withUrl(''));
  expect(await run.status).toBe(0);
  expect(JSON.parse(run.stdout())).toMatchObject({ url: cli.door.url, device: { name: 'Laptop' } });
});

test('a session of an older version is of the address that was kept beside it, whatever BATON_URL says', async () => {
  const { origins: _, service: __, ...old } = JSON.parse(keptBy(laptop)) as Record<string, unknown>;
  const terminal = cli.terminal();
  mkdirSync(terminal.config, { mode: 0o700 });
  const keep = (url: string | null) => {
    writeFileSync(join(terminal.config, 'session.json'), JSON.stringify(old));
    writeFileSync(join(terminal.config, 'settings.json'), JSON.stringify(url === null ? {} : { url }));
  };
  keep(cli.door.url);
  const refused = terminal.run(['status'], withUrl(otherUrl));
  expect(await refused.status).toBe(2);
  const { stdout } = await terminal.ok(['status', '--json']);
  expect(JSON.parse(stdout)).toMatchObject({ url: cli.door.url });
  expect(JSON.parse(keptBy(terminal))).toMatchObject({ origins: expect.arrayContaining([cli.door.url]) });

  keep(null);
  expect(await terminal.run(['status'], withUrl(otherUrl)).status).toBe(3);
  expect(heard).toEqual([]);
});

const REQUEST = 'abcdefghijklmnopqrst-_';
const CODE = '0123456789abcdefghijkl';
const started = (link: string) => ({
  status: 201,
  body: { request_id: REQUEST, poll_secret: 's'.repeat(43), qr_payload: link, expires_at: Date.now() + 120_000 },
});

test('a link to another service is neither shown nor waited for', async () => {
  answer = started(`https://evil.example/link?r=${REQUEST}&c=${CODE}`);
  const stranger = cli.terminal();
  const run = stranger.run(['login', otherUrl]);
  expect(await run.status).toBe(6);
  expect(run.stdout() + run.stderr()).not.toContain('evil.example');
});

test('a link of another service is not asked about', async () => {
  const link = `${otherUrl}/link?r=${REQUEST}&c=${CODE}`;
  const { stderr } = await laptop.ok(['approve', link, '--yes'], { status: 2 });
  expect(stderr).toContain(cli.door.url);
  expect(heard).toEqual([]);
});

test('nobody signs in over plain http in a network by mistake', async () => {
  const stranger = cli.terminal();
  for (const url of ['http://192.0.2.1:8080', 'http://localhost.evil.example']) {
    const { stderr } = await stranger.ok(['login', url], { status: 2 });
    expect(stderr).toContain('--plain-http');
  }
});
