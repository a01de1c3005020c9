import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type CliSite, startCliSite, type Terminal } from './terminal.ts';

/* A proxy, a firewall or the login page of a network answers in the place of the service. */

const pageOf = (status: string): string => {
  const body = '<html><body>No.</body></html>';
  const head = [`HTTP/1.1 ${status}`, 'Content-Type: text/html', `Content-Length: ${body.length}`, 'Connection: close'];
  return `${head.join('\r\n')}\r\n\r\n${body}`;
};
const FORBIDDEN = pageOf('403 Forbidden');
const NO_METHOD = pageOf('405 Method Not Allowed');
const LOGIN_PAGE = pageOf('200 OK');

let cli: CliSite;
let laptop: Terminal;
let phone: Terminal;
beforeEach(async () => {
  cli = await startCliSite();
  [laptop, phone] = (await cli.devices('Laptop', 'Phone')) as [Terminal, Terminal];
  writeFileSync(join(laptop.folder, 'a.txt'), 'hello');
});
afterEach(() => cli.stop());

test('a send through a proxy that takes no PATCH ends with what refuses what, and goes on once it does', async () => {
  cli.door.answer('PATCH /api/relay', NO_METHOD);
  const run = laptop.run(['send', 'a.txt', '--to', 'Phone', '--json']);
  expect(await run.status).toBe(6);
  const { error } = JSON.parse(run.stderr().trim().split('\n').at(-1) ?? '') as { error: { message: string } };
  const { host } = new URL(cli.door.url);
  expect(error).toEqual({
    code: 'refused_between',
    message: `PATCH /api/relay: something in front of Baton at ${host} refuses it with 405, such as a proxy.`,
  });
  cli.door.answer(null, '');
  const receiving = phone.run(['receive', '--yes', '--once', '--dir', '.']);
  const { stderr } = await laptop.ok(['send', 'a.txt', '--to', 'Phone']);
  expect(stderr).toContain('Going on where it stopped.');
  expect(await receiving.status).toBe(0);
  expect(readFileSync(join(phone.folder, 'a.txt'), 'utf8')).toBe('hello');
});

test.each([
  ['a firewall', FORBIDDEN, /refuses it with 403, such as a proxy\. Trying again/],
  ['the login page of a network', LOGIN_PAGE, /answers with a web page, such as a proxy\. Trying again/],
])('a send survives %s that goes away', async (_, answer, says) => {
  cli.door.answer('PATCH /api/relay', answer);
  const receiving = phone.run(['receive', '--yes', '--once', '--dir', '.']);
  const run = laptop.run(['send', 'a.txt', '--to', 'Phone']);
  await run.says(says);
  cli.door.answer(null, '');
  expect([await run.status, await receiving.status]).toEqual([0, 0]);
  expect(readFileSync(join(phone.folder, 'a.txt'), 'utf8')).toBe('hello');
});

test('a page in the place of a file is not stored as the file', async () => {
  await laptop.ok(['send', 'a.txt', '--to', 'Phone', '--leave']);
  cli.door.answer('GET /api/relay', LOGIN_PAGE);
  const run = phone.run(['receive', '--yes', '--dir', '.']);
  await run.says(/GET \/api\/relay: .* answers with a web page, such as a proxy\. Trying again/);
  cli.door.answer(null, '');
  await run.says(/a\.txt\n/);
  expect(readFileSync(join(phone.folder, 'a.txt'), 'utf8')).toBe('hello');
});

test('a single command says what refuses what', async () => {
  cli.door.answer('GET /api/devices', FORBIDDEN);
  const { stderr } = await laptop.ok(['devices'], { status: 6 });
  expect(stderr).toMatch(
    /^baton: GET \/api\/\S+: something in front of Baton at \S+ refuses it with 403, such as a proxy\./,
  );
});
