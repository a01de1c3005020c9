import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type CliSite, startCliSite, type Terminal } from './terminal.ts';

const CTRL_C = '\x03';
const HIDE_CURSOR = '\x1b[?25l';
const SHOW_CURSOR = '\x1b[?25h';
const ERASE_LINE = '\x1b[2K';
/** The width of the terminal that the programs run on. */
const COLUMNS = 80;
/** Repeats the line at every offset, so that one copy begins a line of the terminal, wherever the text begins. */
const fake = (line: string): string => Array.from({ length: COLUMNS }, (_, at) => ' '.repeat(at) + line).join('');

let cli: CliSite;
let laptop: Terminal;
let phone: Terminal;
beforeAll(async () => {
  cli = await startCliSite();
  [laptop, phone] = (await cli.devices('Laptop', 'Phone')) as [Terminal, Terminal];
});
afterAll(() => cli.stop());

test('a line moves while a file is sent, and Ctrl-C leaves the terminal as it was and says how to go on', async () => {
  writeFileSync(join(laptop.folder, 'big.bin'), Buffer.alloc(64 * 1024 * 1024, 7));
  // Nobody receives it, so it stops when the relay is full.
  const run = laptop.run(['send', 'big.bin', '--to', 'Phone'], { onTerminal: true });
  await run.says(/ % {2}[\d.]+ MiB of 64\.0 MiB/);
  expect(run.stdout()).toContain(HIDE_CURSOR);
  await run.says(/[1-9][\d.]* MiB of 64\.0 MiB {2}waiting for Phone/);
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

test('the line of a receiver says for whom it waits', async () => {
  // The sender is gone, and the relay has only the beginning.
  const run = phone.run(['receive', '--yes', '--dir', 'left'], { onTerminal: true });
  await run.says(/[1-9][\d.]* MiB of 64\.0 MiB {2}waiting for Laptop/);
  run.child.stdin?.write(CTRL_C);
  expect(await run.status).toBe(130);
});

/** Returns the shown link, with the address at which these programs reach the service. */
async function inviteOf(inviting: ReturnType<Terminal['run']>): Promise<string> {
  const [link] = await inviting.says(/http:\/\/localhost:8080\/join\?i=[\w-]{22}#s=[\w-]{22}/);
  return link.replace('http://localhost:8080', cli.door.url);
}

test('a new terminal comes in by an invite, when the digits that it shows are typed where that was made', async () => {
  const inviting = laptop.run(['invite'], { onTerminal: true });
  const link = await inviteOf(inviting);
  const newcomer = cli.terminal();
  const joining = newcomer.run(['login', link, '--name', 'Tablet']);
  const [, first, last] = await joining.says(/other device: (\d{3}) (\d{3})/);
  await inviting.says(/Tablet[^]*Six digits/);
  inviting.child.stdin?.write(`${first === '000' ? '111' : '000'} ${last}\r`);
  await inviting.says(/not its digits\. 2 tries are left\.[^]*Six digits/);
  inviting.child.stdin?.write(`${first} ${last}\r`);
  expect(await joining.status).toBe(0);
  expect(await inviting.status).toBe(0);
  expect((await newcomer.ok(['status'])).stdout).toContain('Tablet');
  expect((await laptop.ok(['devices'])).stdout).toContain('Tablet');
});

test('an invite is for a terminal, and nobody who has its code alone comes in', async () => {
  await laptop.ok(['invite'], { status: 2 });
  const inviting = laptop.run(['invite'], { onTerminal: true });
  const link = await inviteOf(inviting);
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

test('no event that `watch` shows goes on in what looks like another one', async () => {
  const run = phone.run(['watch'], { onTerminal: true });
  await run.says(/ready /);
  await laptop.ok(['message', 'Phone', '-'], { input: fake('12:00:00 ready {}').slice(0, 3_000).concat('the end') });
  await run.says(/the\r?\n? *\|? ?end/);
  run.child.stdin?.write(CTRL_C);
  expect(await run.status).toBe(130);
  const lines = run.stdout().split(/\r?\n/);
  expect(lines.length).toBeGreaterThan(30);
  for (const line of lines) expect([line, line.length <= COLUMNS]).toEqual([line, true]);
  const first = lines.findIndex((line) => line.includes(' message {'));
  for (const line of lines.slice(first + 1).filter((each) => each.includes('12:00:00'))) {
    expect(line).toMatch(/^ {4}\| /);
  }
});

test('no row of `transfers` goes on in what looks like another one', async () => {
  const name = `${'x'.repeat(60)} ${'01a2b3c4-d5e6-7890-abcd-ef0123456789  to Phone  accepted'.repeat(2)}`;
  writeFileSync(join(laptop.folder, name), 'a');
  const sending = laptop.run(['send', name, '--to', 'Phone']);
  await sending.says(/is not connected/);
  const run = laptop.run(['transfers'], { onTerminal: true });
  expect(await run.status).toBe(0);
  const lines = run.stdout().trimEnd().split(/\r?\n/);
  expect(lines.length).toBeGreaterThan(2);
  for (const line of lines) {
    expect([line, line.length <= COLUMNS]).toEqual([line, true]);
    expect(line).toMatch(/^(?:[0-9a-f]{8}-[0-9a-f-]{27} {2}to Phone| {4}\| )/);
  }
  const named = lines.findIndex((line) => line.includes('"xxx') || line.includes('xxxx'));
  expect(lines.slice(named).join('').replaceAll('    | ', '')).toContain(name);
  sending.child.kill('SIGINT');
  await sending.status;
});
