import { existsSync } from 'node:fs';
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
});
afterAll(() => cli.stop());

const hasKeys = ({ config }: Terminal): boolean =>
  ['keys.json', 'grant.json'].some((name) => existsSync(join(config, name)));

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
  expect(hasKeys(device)).toBe(false);
  await device.ok(['status'], { status: 3 });
});

test('a new device that is killed at the question has no keys, and sends nothing unencrypted', async () => {
  const { device, login } = await askedDevice('Killed');
  login.child.kill('SIGKILL');
  await login.status;
  expect((await device.ok(['message', 'Laptop', 'secret'], { status: 5 })).stderr).toContain('so nothing was sent');
  expect(hasKeys(device)).toBe(false);
});

describe('a new device that ended between its approval and the question', () => {
  /** Keeps the approval as a login does, which dies then. Returns the digits of the approver. */
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
  test('asks with its next command, and seals once its user has said that they are the same', async () => {
    const { device, digits } = await approvedDevice('Late');
    const message = device.run(['message', 'Laptop', 'after the question'], { onTerminal: true });
    await message.says(new RegExp(`Check code: ${digits}\\. Are the digits the same on the other device\\?`));
    expect(existsSync(join(device.config, 'keys.json'))).toBe(false);
    message.child.stdin?.write('y\r');
    expect(await message.status).toBe(0);
    expect(await jsonOf(laptop, 'inbox')).toMatchObject([{ content: 'after the question', sealed: true }]);
  });

  test('sends nothing and keeps no keys where they differ', async () => {
    const { device } = await approvedDevice('Strange');
    const message = device.run(['message', 'Laptop', 'to nobody'], { onTerminal: true });
    await message.says(/Are the digits the same on the other device\?/);
    message.child.stdin?.write('n\r');
    expect(await message.status).toBe(5);
    expect(hasKeys(device)).toBe(false);
    expect(await jsonOf(laptop, 'inbox')).toEqual([]);
  });
});
