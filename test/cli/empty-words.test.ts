import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { devicesWithKeys } from './keyed-devices.ts';
import { type CliSite, startCliSite, type Terminal } from './terminal.ts';

/* A script gives an empty variable, or a folder that has more in it than its user knows. */

let cli: CliSite;
let laptop: Terminal;
let phone: Terminal;
beforeAll(async () => {
  cli = await startCliSite();
  [laptop, phone] = (await devicesWithKeys(cli, ['Laptop', 'Phone'])) as [Terminal, Terminal];
  writeFileSync(join(laptop.folder, 'a.txt'), 'a');
});
afterAll(() => cli.stop());

test('an empty path does not send the working folder', async () => {
  const { stderr } = await laptop.ok(['send', '', '--to', 'Phone', '--leave'], { status: 2 });
  expect(stderr).toBe('baton: An empty path names no file.\n');
  await laptop.ok(['send', '--watch', '', '--to', 'Phone'], { status: 2 });
  await laptop.ok(['send', 'a.txt', '--to', 'Phone', '--exclude', ''], { status: 2 });
  expect((await laptop.ok(['transfers'])).stderr).not.toContain('Phone');
});

test('an empty id does not cancel the only transfer', async () => {
  await laptop.ok(['send', 'a.txt', '--to', 'Phone', '--leave']);
  await laptop.ok(['cancel', ''], { status: 4 });
  await phone.ok(['receive', '--yes', '--once', '--dir', 'in']);
  expect(readdirSync(join(phone.folder, 'in'))).toEqual(['a.txt']);
});

test('the session and the keys of this device are not sent with the folder around them', async () => {
  const receiving = phone.run(['receive', '--yes', '--once', '--dir', 'home']);
  const { stderr } = await laptop.ok(['send', '.', '--to', 'Phone']);
  expect(stderr).toMatch(/Not sent: \S+\/\.config \(the session and the keys of this device\)/);
  expect(await receiving.status).toBe(0);
  const [top = ''] = readdirSync(join(phone.folder, 'home'));
  expect(readdirSync(join(phone.folder, 'home', top))).toEqual(['a.txt']);
  mkdirSync(join(laptop.folder, 'deep'));
  for (const path of ['.config', '.config/keys.json', 'deep/../.config/session.json']) {
    expect((await laptop.ok(['send', path, '--to', 'Phone'], { status: 2 })).stderr).toContain('is not sent');
  }
});
