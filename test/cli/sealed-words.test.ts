import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { devicesWithKeys, jsonOf } from './keyed-devices.ts';
import { type CliSite, startCliSite, type Terminal } from './terminal.ts';

let cli: CliSite;
let laptop: Terminal;
let phone: Terminal;
beforeAll(async () => {
  cli = await startCliSite();
  [laptop, phone] = (await devicesWithKeys(cli, ['Laptop', 'Phone'])) as [Terminal, Terminal];
});
afterAll(() => cli.stop());

test('a device that has lost its keys gets them by the recovery words, and reads what waits', async () => {
  const [made] = await jsonOf(laptop, 'keys', 'words');
  const words = made?.['words'] as string;
  expect(words.split(' ')).toHaveLength(24);
  expect((await laptop.ok(['keys'])).stdout).toContain('recovery words');
  await laptop.ok(['message', 'Phone', 'waits']);
  rmSync(join(phone.config, 'keys.json'));
  expect((await phone.ok(['keys', 'recover'], { input: 'no such words', status: 1 })).stderr).toContain(
    'These are not the recovery words of this account',
  );
  await phone.ok(['keys', 'recover'], { input: `${words.split(' ').join('\n')}\n` });
  expect(await jsonOf(phone, 'inbox')).toMatchObject([{ content: 'waits', sealed: true }]);
  await phone.ok(['message', 'Laptop', 'back']);
  expect(await jsonOf(laptop, 'inbox')).toMatchObject([{ content: 'back', sealed: true }]);
  // The words can be renewed at any time, and stay the same.
  expect((await laptop.ok(['keys', 'renew'], { input: 'no such words', status: 1 })).stderr).toContain(
    'These are not the recovery words of this account',
  );
  const { n } = (await jsonOf(laptop, 'keys'))[0] as { n: number };
  const renewed = await laptop.ok(['keys', 'renew', '--json'], { input: words });
  expect(JSON.parse(renewed.stdout)).toEqual({ renewed: true, n: n + 1 });
  rmSync(join(phone.config, 'keys.json'));
  await phone.ok(['keys', 'recover'], { input: words });
  // The command asks before it makes new words, and there is nobody to ask.
  await laptop.ok(['keys', 'words'], { status: 2 });
  const [newer] = await jsonOf(laptop, 'keys', 'words', '--yes');
  expect(newer?.['words']).not.toBe(words);
});
