import { devicesWithKeys, jsonOf } from './keyed-devices.ts';
import { type CliSite, startCliSite, type Terminal } from './terminal.ts';

/* The other direction of linking: a device with keys invites, and its user types the digits of the new device there. */

let cli: CliSite;
let laptop: Terminal;
beforeAll(async () => {
  cli = await startCliSite();
  [laptop] = (await devicesWithKeys(cli, ['Laptop'])) as [Terminal];
});
afterAll(() => cli.stop());

/** Invites, and lets `login` begin with the link after `edit`. */
async function invited(name: string, edit = (link: string) => link) {
  const inviting = laptop.run(['invite'], { onTerminal: true });
  const [link] = await inviting.says(/http:\/\/localhost:8080\/join\?i=[\w-]{22}#k=1\.[\w-]{22}/);
  const newcomer = cli.terminal();
  const joining = newcomer.run([
    ...['login', edit(link).replace('http://localhost:8080', cli.door.url), '--name', name],
  ]);
  const [, first = '', last = ''] = await joining.says(/other device: (\d{3}) (\d{3})/);
  await inviting.says(/Six digits/);
  const type = (digits: string) => void inviting.child.stdin?.write(`${digits}\r`);
  return { inviting, joining, newcomer, first, last, type };
}

const other = (digits: string): string => (digits === '000' ? '111' : '000');

test('a device that is invited by one with keys gets the key when its digits are typed, and both show the same code', async () => {
  const { inviting, joining, newcomer, first, last, type } = await invited('Tablet');
  await inviting.says(/It gets the key of this account/);
  type(`${other(first)} ${last}`);
  await inviting.says(/not its digits\. 2 tries are left\.[^]*Six digits/);
  type(`${first} ${last}`);
  expect([await joining.status, await inviting.status]).toEqual([0, 0]);
  const [, shown] = /Check code: (\d{4})/.exec(inviting.stdout()) ?? [];
  expect(joining.stdout()).toContain(`Check code: ${shown}`);
  await newcomer.ok(['message', 'Laptop', 'hello']);
  expect(await jsonOf(laptop, 'inbox')).toMatchObject([{ content: 'hello', sealed: true, from_name: 'Tablet' }]);
  await laptop.ok(['message', 'Tablet', 'welcome']);
  expect(await jsonOf(newcomer, 'inbox')).toMatchObject([{ content: 'welcome', sealed: true }]);
});

test('three times wrong digits end the invite, and the device is in no ring', async () => {
  const [before] = await jsonOf(laptop, 'keys');
  const { inviting, joining, first, last, type } = await invited('Stranger');
  for (let tries = 1; tries <= 3; tries += 1) {
    await inviting.says(new RegExp(`(?:Six digits[^]*){${tries}}`));
    type(`${other(first)} ${last}`);
  }
  expect(await inviting.status).toBe(1);
  expect(inviting.stdout()).toContain('The digits were wrong three times');
  expect(await joining.status).not.toBe(0);
  expect((await jsonOf(laptop, 'keys'))[0]).toMatchObject({ n: before?.['n'] });
});

test('a device that sends no keys comes in without them, and that is said', async () => {
  const { inviting, joining, newcomer, first, last, type } = await invited('Old', (link) =>
    link.replace('#k=1.', '#s='),
  );
  await inviting.says(/It gets no keys/);
  type(`${first} ${last}`);
  expect([await joining.status, await inviting.status]).toEqual([0, 0]);
  expect(joining.stderr()).toContain('this device has no keys');
  expect((await newcomer.ok(['keys'])).stdout).toContain('This device has no keys');
});
