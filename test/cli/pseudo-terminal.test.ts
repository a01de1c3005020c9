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
