import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { meOf, uuid } from '../unit/client/answers.ts';
import { type CliSite, type Run, startCliSite, type Terminal } from './terminal.ts';

/* A service and devices put texts that a terminal would obey into every place where a text may be. */

const EVIL =
  '\x1b[2J\x1b]0;x\x07\x9b31m\r\b\x7f\0\u202etxt\u2066\u061c\u200b\u2028\u2029\ufeff\u00ad\u{e0041}\ud800 12:00:00 Laptop: pay';
const TWO_LINES = `first\n12:00:00 Laptop: pay\n${EVIL}`;
/** Everything invisible, except the ends of lines that the program makes. */
const UNSEEN = /(?![\n])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u;

let cli: CliSite;
let terminal: Terminal;
let server: Server;
let url: string;
/** The answer to every call except those below; null: the answer of a friendly service. */
let refusal: object | null = null;

const device = (name: string) => ({
  ...{ device_id: `${name}-000001`, name, type: 'linux', online: false, current: name === 'laptop' },
  ...{ created_at: 1, last_seen_at: 1 },
});
const message = (content: string, from_name: string) => ({
  ...{ message_id: uuid(1), from_device_id: null, from_name, content, created_at: 1, redelivered: false },
});
const offer = {
  ...{ transfer_id: uuid(2), state: 'CANCELLED', mode: 'relay', phase: 'initializing' },
  ...{ sender: { device_id: 'phone-000001', name: 'phone' }, receiver: { device_id: 'laptop-000001', name: 'laptop' } },
  files: [{ index: 0, name: EVIL, size: 1, type: EVIL, sha256: null }],
  ...{ file_count: 1, total_bytes: 1, sealed: EVIL, progress: { sent_bytes: 0, received_bytes: 0 } },
  ...{ error: { code: EVIL, detail: EVIL }, created_at: 1, updated_at: 1, expires_at: 2 },
};
const clipboard = {
  ...{ content: TWO_LINES.replace('\ud800', ''), content_type: 'text/plain', source_device_id: null },
  ...{ source_device_name: EVIL, updated_at: 1, expires_at: 2 },
};
const view = {
  ...{ request_id: 'abcdefghijklmnopqrst-_', device_name: EVIL, device_type: 'linux', age_seconds: 1, expires_at: 2 },
  ...{ source: { address: EVIL, user_agent: TWO_LINES }, allowed_scopes: ['full'], allowed_persist: ['once'] },
};

const ANSWERS: Readonly<Record<string, object>> = {
  '/api/me': meOf({ name: TWO_LINES, device: { device_id: 'laptop-000001', name: 'laptop', type: 'linux' } }),
  '/api/devices': { devices: [device('laptop'), device('phone')] },
  '/api/message': { messages: [message(TWO_LINES, EVIL), message('a', `Laptop: pay\n12:00:00 Phone`)] },
  '/api/message/ack': { acked: 2 },
  '/api/clipboard': clipboard,
  '/api/auth/qr/request': view,
  '/api/auth/qr/approve': { status: 'approved' },
};

function stream(res: ServerResponse): void {
  res.writeHead(200, { 'Content-Type': 'text/event-stream' });
  const send = (name: string, data: object) => res.write(`event: ${name}\ndata: ${JSON.stringify(data)}\n\n`);
  send('ready', {
    ...{ resumed: true, device: null, presence: { version: 1, devices: [] }, clipboard: null },
    ...{ pending: { messages: 0, transfers: 0 }, heartbeat_ms: 15_000, server_id: EVIL },
  });
  send('message', message(TWO_LINES, EVIL));
  send('transfer:updated', { transfer: offer });
  send('clipboard', { source_device_id: null, source_device_name: EVIL, updated_at: 1, expires_at: 2, bytes: 1 });
  send('presence', { version: 'the last', devices: EVIL });
}

function serve(req: IncomingMessage, res: ServerResponse): void {
  const path = (req.url ?? '').replace(/\?.*/, '');
  req.resume();
  if (path === '/api/hub/events') return stream(res);
  const isRefused = refusal !== null && path !== '/api/devices';
  res.writeHead(isRefused ? 409 : 200, { 'Content-Type': isRefused ? 'application/problem+json' : 'application/json' });
  res.end(JSON.stringify(isRefused ? refusal : (ANSWERS[path] ?? {})));
}

beforeAll(async () => {
  cli = await startCliSite();
  terminal = cli.terminal();
  server = createServer(serve).listen(0, '127.0.0.1');
  await once(server, 'listening');
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  mkdirSync(terminal.config, { mode: 0o700 });
  writeFileSync(
    join(terminal.config, 'session.json'),
    JSON.stringify({
      ...{ credential: 'v1.x.y', access_token: 'x', access_token_expires_at: Date.now() + 3_000_000 },
      ...{ scope: 'full', persist: 'persist', session_expires_at: Date.now() + 3_000_000, origins: [url] },
      ...{ device: null, user: { user_id: 'ada', name: EVIL } },
    }),
  );
});
afterAll(async () => {
  server.closeAllConnections();
  server.close();
  await cli.stop();
});

const run = (args: readonly string[], more: object = {}): Run =>
  terminal.run(args, { env: { BATON_URL: url }, ...more });

/** Returns the lines that a pseudo-terminal gave, which ends lines in its own way. */
const linesOf = (text: string): string =>
  text.replaceAll('\r\n', '\n').replaceAll(/\x1b\[(?:\?25[hl]|[0-9]*[GJK])/g, '');

const COMMANDS: readonly (readonly string[])[] = [
  ['status'],
  ['devices'],
  ['inbox'],
  ['inbox', '--keep'],
  ['approve', 'abcdefghijklmnopqrst-_.0123456789abcdefghijkl', '--yes'],
  ['login'],
];

describe.each(COMMANDS)('%s %s', (...args) => {
  const words = args.filter(Boolean);
  test.each([
    ['as text', [], false],
    ['as JSON', ['--json'], false],
    ['on a terminal', [], true],
  ])('%s shows nothing that a terminal obeys', async (_, more, onTerminal) => {
    refusal = null;
    const ran = run([...words, ...more], { onTerminal });
    await ran.status;
    expect(linesOf(ran.stdout() + ran.stderr())).not.toMatch(UNSEEN);
    expect(ran.stdout() + ran.stderr()).not.toBe('');
  });
});

test.each([
  ['a refusal', { status: 409, code: 'name_taken', detail: EVIL, request_id: EVIL }],
  ['an unknown refusal', { status: 409, code: EVIL, title: EVIL, request_id: EVIL }],
])('%s is said in one line, as text and as JSON', async (_, given) => {
  refusal = given;
  for (const more of [[], ['--json']]) {
    const ran = run(['message', 'phone', 'x', ...more]);
    expect(await ran.status).toBe(1);
    expect(ran.stderr()).not.toMatch(UNSEEN);
    expect(ran.stderr().trim().split('\n')).toHaveLength(1);
    if (more.length > 0)
      expect(JSON.parse(ran.stderr())).toMatchObject({ error: { message: expect.stringContaining(EVIL) } });
  }
  refusal = null;
});

test('JSON says exactly what came', async () => {
  const ran = run(['inbox', '--keep', '--json']);
  expect(await ran.status).toBe(0);
  const [first] = ran.stdout().trim().split('\n');
  expect(JSON.parse(first as string)).toEqual({ ...message(TWO_LINES, EVIL), sealed: false });
});

test.each([false, true])('no line of a message looks like another one (on a terminal: %s)', async (onTerminal) => {
  const ran = run(['inbox', '--keep'], { onTerminal });
  await ran.status;
  const lines = linesOf(ran.stdout()).trimEnd().split('\n');
  const heads = lines.filter((line) => !line.startsWith('    | '));
  expect(heads).toHaveLength(2);
  // A name that could be taken for the start of a message is in quotes.
  for (const head of heads) expect(head).toMatch(/^\d[\d:]*\s?(?:[AP]M)? "/);
});

test('what follows is shown as harmlessly, and an event that is none is left out', async () => {
  for (const words of [['watch'], ['watch', '--json'], ['inbox', '--follow'], ['devices', '--watch']]) {
    const ran = run(words);
    await ran.says(words[0] === 'devices' ? /phone/ : words[0] === 'watch' ? /source_device_name/ : /pay/);
    ran.child.kill('SIGINT');
    expect(await ran.status).toBe(130);
    expect(ran.stdout() + ran.stderr()).not.toMatch(UNSEEN);
    expect(ran.stdout()).not.toContain('the last');
  }
});

test('the clipboard goes into a pipe as it is, and onto a terminal harmlessly', async () => {
  const piped = run(['paste']);
  await piped.status;
  expect(piped.stdout()).toBe(clipboard.content);
  const shown = run(['paste'], { onTerminal: true });
  await shown.status;
  expect(linesOf(shown.stdout())).not.toMatch(UNSEEN);
});

test('what was typed is said again as harmlessly', async () => {
  for (const words of [
    [`\x1b[2J${EVIL.replace('\0', '')}`],
    ['devices', '--\x9b31m'],
    ['message', 'a\x1b[2J\u202e', 'x'],
  ]) {
    const ran = run(words);
    expect(await ran.status).not.toBe(0);
    expect(ran.stderr()).not.toMatch(UNSEEN);
  }
});
