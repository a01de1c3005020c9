import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { requestSignIn } from '../../shared/client/index.ts';
import { fileSession, sealingFiles } from '../../shared/client/node.ts';
import { makeAsking } from '../../shared/client/sealing.ts';
import { devicesWithKeys, jsonOf } from './keyed-devices.ts';
import { type CliSite, type Run, startCliSite, type Terminal } from './terminal.ts';

/* A new device on a terminal keeps no key before its user has compared the digits. */

let cli: CliSite;
let laptop: Terminal;
beforeAll(async () => {
  cli = await startCliSite();
  [laptop] = (await devicesWithKeys(cli, ['Laptop'])) as [Terminal];
  await laptop.ok(['copy'], { input: 'something' });
});
afterAll(() => cli.stop());

const hasKeys = ({ config }: Terminal): boolean => existsSync(join(config, 'keys.json'));
const hasApproval = ({ config }: Terminal): boolean => existsSync(join(config, 'grant.json'));

/** Runs commands that would send or show something. Each of them must refuse. */
async function expectRefusals(device: Terminal): Promise<void> {
  writeFileSync(join(device.folder, 'secret.txt'), 'secret');
  const all = [
    ['message', 'Laptop', 'secret'],
    ['copy'],
    ['paste'],
    ['inbox'],
    ['send', 'secret.txt', '--to', 'Laptop'],
  ];
  for (const args of all.flatMap((each) => [each, [...each, '--plain']])) {
    const { stderr } = await device.ok(args, { status: 5, input: 'secret' });
    expect(stderr).toContain('nobody has compared its check code');
  }
  expect([hasKeys(device), hasApproval(device)]).toEqual([false, true]);
}

/** Compares the digits with `keys link` on a terminal. */
async function compare(device: Terminal, digits: string, answer: 'y' | 'n'): Promise<Run> {
  const linking = device.run(['keys', 'link'], { onTerminal: true });
  await linking.says(new RegExp(`Check code: ${digits}\\. Are the digits the same on the other device\\?`));
  linking.child.stdin?.write(`${answer}\r`);
  await linking.status;
  return linking;
}

/** Signs a new device in, up to the question. */
async function askedDevice(name: string): Promise<{ device: Terminal; login: Run; digits: string }> {
  const device = cli.terminal();
  const login = device.run(['login', cli.door.url, '--name', name], { onTerminal: true });
  const [link] = await login.says(/http:\/\/\S+\/link\?\S+/);
  const { stdout } = await laptop.ok(['approve', link, '--yes']);
  const [, digits = ''] = await login.says(/Check code: (\d{4})\. Are the digits the same on the other device\?/);
  expect(stdout).toContain(`Check code: ${digits}`);
  return { device, login, digits };
}

test('a new device keeps the keys once its user has said that the digits are the same', async () => {
  const { device, login } = await askedDevice('Same');
  expect(hasKeys(device)).toBe(false);
  login.child.stdin?.write('y\r');
  expect(await login.status).toBe(0);
  await device.ok(['message', 'Laptop', 'hello']);
  expect(await jsonOf(laptop, 'inbox')).toMatchObject([{ content: 'hello', sealed: true }]);
});

test('a new device whose user says that the digits differ keeps no keys, and is signed out again', async () => {
  const { device, login } = await askedDevice('Other');
  login.child.stdin?.write('n\r');
  expect(await login.status).toBe(5);
  expect(login.stdout()).toContain('Signed out again');
  expect([hasKeys(device), hasApproval(device)]).toEqual([false, false]);
  await device.ok(['status'], { status: 3 });
});

test('a new device that is killed at the question has no keys, sends nothing, and asks again by `keys link`', async () => {
  const { device, login, digits } = await askedDevice('Killed');
  login.child.kill('SIGKILL');
  await login.status;
  await expectRefusals(device);
  await compare(device, digits, 'y');
  await device.ok(['message', 'Laptop', 'compared late']);
  expect(await jsonOf(laptop, 'inbox')).toMatchObject([{ content: 'compared late', sealed: true }]);
});

test('a device whose digits were not compared does not go on with what it had begun to send', async () => {
  const device = cli.terminal();
  const login = device.run(['login', cli.door.url, '--name', 'Begun']);
  const [link] = await login.says(/http:\/\/\S+\/link\?[^#\s]+/);
  await laptop.ok(['approve', link.split('#')[0] as string, '--yes']);
  expect(await login.status).toBe(0);
  writeFileSync(join(device.folder, 'begun.txt'), 'begun');
  const sending = device.run(['send', 'begun.txt', '--to', 'Laptop', '--plain']);
  await sending.says(/is not connected/);
  sending.child.kill('SIGINT');
  expect(await sending.status).toBe(130);
  const linking = device.run(['keys', 'link'], { onTerminal: true });
  const [asked] = await linking.says(/http:\/\/\S+\/link\?\S+/);
  await laptop.ok(['approve', asked, '--yes']);
  await linking.says(/Are the digits the same on the other device\?/);
  linking.child.kill('SIGKILL');
  await linking.status;
  for (const more of [[], ['--plain']]) {
    const { stderr } = await device.ok(['send', '--continue', ...more], { status: 5 });
    expect(stderr).toContain('nobody has compared its check code');
  }
  expect((await jsonOf(device, 'transfers'))[0]).toMatchObject({ transfers: [{}] });
});

describe('a new device that ended between its approval and the question', () => {
  /** Stores an approval like a login that dies right after. Returns the digits of the approver. */
  async function approvedDevice(name: string): Promise<{ device: Terminal; digits: string }> {
    const device = cli.terminal();
    const asking = await makeAsking(sealingFiles(device.config));
    const request = await requestSignIn({
      ...{ baseUrl: cli.door.url, deviceName: name, deviceType: 'linux' },
      ...{ session: fileSession(join(device.config, 'session.json')), keys: asking.keys, onApproved: asking.keep },
    });
    const [approved] = await jsonOf(laptop, 'approve', await asking.linkWith(request.link), '--yes');
    await request.approved();
    return { device, digits: (approved as { check_code: string }).check_code };
  }

  // Proves G37.
  test('sends and shows nothing before its user has said that they are the same, by `keys link`', async () => {
    const { device, digits } = await approvedDevice('Late');
    await expectRefusals(device);
    await compare(device, digits, 'y');
    await device.ok(['message', 'Laptop', 'after the question']);
    expect(await jsonOf(laptop, 'inbox')).toMatchObject([{ content: 'after the question', sealed: true }]);
  });

  test('is signed out where they differ, because whoever approved it may have an account of their own', async () => {
    const { device, digits } = await approvedDevice('Strange');
    expect((await compare(device, digits, 'n')).stdout()).toContain('Signed out again');
    expect([hasKeys(device), hasApproval(device)]).toEqual([false, false]);
    await device.ok(['status'], { status: 3 });
    expect(await jsonOf(laptop, 'inbox')).toEqual([]);
  });

  test('takes the keys by `keys link` of a script, which prints the digits', async () => {
    const { device, digits } = await approvedDevice('Script');
    expect(await jsonOf(device, 'keys', 'link')).toMatchObject([{ keyed: true, check_code: digits }]);
    expect(hasKeys(device)).toBe(true);
  });
});
