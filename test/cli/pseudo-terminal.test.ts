import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type CliSite, startCliSite, type Terminal } from './terminal.ts';

const CTRL_C = '\x03';
const HIDE_CURSOR = '\x1b[?25l';
const SHOW_CURSOR = '\x1b[?25h';
const ERASE_LINE = '\x1b[2K';

let cli: CliSite;
let laptop: Terminal;
beforeAll(async () => {
  cli = await startCliSite();
  [laptop] = (await cli.devices('Laptop', 'Phone')) as [Terminal, Terminal];
});
afterAll(() => cli.stop());

test('a line moves while a file is sent, and Ctrl-C leaves the terminal as it was and says how to go on', async () => {
  writeFileSync(join(laptop.folder, 'big.bin'), Buffer.alloc(64 * 1024 * 1024, 7));
  // Nobody takes it: it stands still when the relay is full.
  const run = laptop.run(['send', 'big.bin', '--to', 'Phone'], { onTerminal: true });
  await run.says(/ % {2}[\d.]+ MiB of 64\.0 MiB/);
  expect(run.stdout()).toContain(HIDE_CURSOR);
  run.child.stdin?.write(CTRL_C);

  expect(await run.status).toBe(130);
  const after = run.stdout().slice(run.stdout().lastIndexOf(' % '));
  expect(after).toContain(SHOW_CURSOR);
  expect(after).not.toContain(HIDE_CURSOR);
  expect(after.slice(after.lastIndexOf(ERASE_LINE))).toContain('goes on with it');
});

test('without a terminal nothing moves: no control characters', async () => {
  const run = laptop.run(['send', 'big.bin', '--to', 'Phone']);
  await run.says(/is not connected/);
  run.child.kill('SIGINT');
  expect(await run.status).toBe(130);
  expect(run.stdout() + run.stderr()).not.toContain('\x1b');
});

test('a new terminal comes in by an invite, when the digits that it shows are typed where that was made', async () => {
  const inviting = laptop.run(['invite'], { onTerminal: true });
  const [link] = await inviting.says(/http:\/\/\S+\/join\?i=[\w-]{22}#s=[\w-]{22}/);
  expect(new URL(link).origin).toBe(cli.door.url);
  const newcomer = cli.terminal();
  const joining = newcomer.run(['login', link, '--name', 'Tablet']);
  const [, first, last] = await joining.says(/other device: (\d{3}) (\d{3})/);
  await inviting.says(/Tablet[^]*Six digits/);
  inviting.child.stdin?.write(`${first === '000' ? '111' : '000'} ${last}\r`);
  await inviting.says(/not its digits[^]*Six digits/);
  inviting.child.stdin?.write(`${first} ${last}\r`);
  expect(await joining.status).toBe(0);
  expect(await inviting.status).toBe(0);
  expect((await newcomer.ok(['status'])).stdout).toContain('Tablet');
  expect((await laptop.ok(['devices'])).stdout).toContain('Tablet');
});

test('an invite is for a terminal, and nobody who has its code alone comes in', async () => {
  await laptop.ok(['invite'], { status: 2 });
  const inviting = laptop.run(['invite'], { onTerminal: true });
  const [link] = await inviting.says(/http:\/\/\S+\/join\?i=[\w-]{22}#s=[\w-]{22}/);
  const stranger = cli.terminal();
  const joining = stranger.run(['login', link, '--name', 'Stranger']);
  for (let i = 0; i < 3; i++) {
    await inviting.says(new RegExp(`(?:Six digits[^]*){${i + 1}}`));
    inviting.child.stdin?.write('12\r');
  }
  expect(await inviting.status).toBe(1);
  expect(await joining.status).not.toBe(0);
  await cli.terminal().ok(['login', link, '--name', 'Late'], { status: 4 });
});
