import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type CliSite, startCliSite, type Terminal } from './terminal.ts';

/* A service, or a proxy in front of it, asks a terminal to wait for a day. */

const DAY_SECONDS = 86_400;
const ASKS = /The service asks to wait 24 h 0 min, until .*\. It is tried again each minute; Ctrl-C ends it\./;

let cli: CliSite;
let laptop: Terminal;
beforeEach(async () => {
  cli = await startCliSite();
  [laptop] = (await cli.devices('Laptop', 'Phone')) as [Terminal, Terminal];
});
afterEach(() => cli.stop());

test('a sign-in ends with the reason, because its code does not live as long', async () => {
  cli.door.refuse('GET /api/auth/qr/status', 'rate_limited', DAY_SECONDS);
  const run = cli.terminal().run(['login', cli.door.url, '--name', 'New', '--json']);
  expect(await run.status).toBe(1);
  const { error } = JSON.parse(run.stderr()) as { error: object };
  expect(error).toMatchObject({ code: 'rate_limited', retry_after_ms: DAY_SECONDS * 1_000 });
});

test('a sign-in says how long it waits where its code lives longer', async () => {
  cli.door.refuse('GET /api/auth/qr/status', 'rate_limited', 40);
  const run = cli.terminal().run(['login', cli.door.url, '--name', 'New']);
  await run.says(/The service asks to wait 40 s, until /);
  run.child.kill('SIGINT');
  expect(await run.status).toBe(130);
});

test('a watched folder says when its file is offered again, and Ctrl-C ends the wait', async () => {
  mkdirSync(join(laptop.folder, 'out'));
  const run = laptop.run(['send', '--watch', 'out', '--to', 'Phone']);
  await run.says(/Watching/);
  cli.door.refuse('POST /api/transfer/init', 'rate_limited', DAY_SECONDS);
  writeFileSync(join(laptop.folder, 'out', 'a.txt'), 'a');
  await run.says(/a\.txt has to wait: Too many requests\. Try again in 24 h 0 min\..* The next try is at \S+/);
  run.child.kill('SIGINT');
  expect(await run.status).toBe(130);
});

test.each([
  ['a full relay', 'PATCH /api/relay', 'relay_busy'],
  ['a stream that is refused', 'GET /api/hub/events', 'rate_limited'],
])('%s is said, and Ctrl-C ends the wait', async (_, request, code) => {
  cli.door.refuse(request, code, DAY_SECONDS);
  writeFileSync(join(laptop.folder, 'a.txt'), 'a');
  const run = laptop.run(['send', 'a.txt', '--to', 'Phone']);
  await run.says(ASKS);
  run.child.kill('SIGINT');
  expect(await run.status).toBe(130);
});
