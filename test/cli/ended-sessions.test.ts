import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { approve, devicesWithKeys, jsonOf } from './keyed-devices.ts';
import { type CliSite, startCliSite, type Terminal } from './terminal.ts';

/* The secrets on the disk of a device whose session has ended. */

let cli: CliSite;
let laptop: Terminal;
let phone: Terminal;
beforeEach(async () => {
  cli = await startCliSite();
  [laptop, phone] = (await devicesWithKeys(cli, ['Laptop', 'Phone'])) as [Terminal, Terminal];
});
afterEach(() => cli.stop());

/** Returns the files with secrets that a device has. */
function secretsOf({ config }: Terminal): string[] {
  const sends = join(config, 'sends');
  const kept = ['session.json', 'keys.json', 'asking-keys.json', 'grant.json', 'leaving.json'];
  const sent = existsSync(sends) ? readdirSync(sends).filter((name) => /\.(json|input|begun)$/.test(name)) : [];
  return [...kept.filter((name) => existsSync(join(config, name))), ...sent];
}

/** Leaves a sealed send, whose record has the key of its files. */
async function interruptSend(from: Terminal): Promise<void> {
  writeFileSync(join(from.folder, 'secret.txt'), 'secret');
  const sending = from.run(['send', 'secret.txt', '--to', 'Laptop']);
  await sending.says(/is not connected/);
  sending.child.kill('SIGINT');
  await sending.status;
}

test('the next command completes a sign-out that was killed, and no secret stays', async () => {
  await interruptSend(phone);
  const kept = cli.door.keepAnswer('POST /api/auth/logout');
  const leaving = phone.run(['logout']);
  await kept;
  leaving.child.kill('SIGKILL');
  await leaving.status;
  expect(secretsOf(phone)).toContain('keys.json');
  const { stderr } = await phone.ok(['status'], { status: 3 });
  expect(stderr).toContain('A sign-out of this device was interrupted. It is complete now.');
  expect(secretsOf(phone)).toEqual([]);
  await phone.ok(['logout'], { status: 3 });
});

test('a sign-out that was killed before the service heard of it is completed there too', async () => {
  cli.door.shut();
  const leaving = phone.run(['logout']);
  await until(() => existsSync(join(phone.config, 'leaving.json')));
  leaving.child.kill('SIGKILL');
  await leaving.status;
  cli.door.open();
  expect((await phone.ok(['logout'])).stdout).toBe('Signed out.\n');
  expect(secretsOf(phone)).toEqual([]);
  expect((await laptop.ok(['devices', '--names'])).stdout).toBe('Laptop\n');
});

test('a note of a sign-out that cannot be read costs no keys', async () => {
  writeFileSync(join(phone.config, 'leaving.json'), '{"device_');
  await phone.ok(['message', 'Laptop', 'still here']);
  expect(secretsOf(phone)).toContain('keys.json');
});

test('a sign-out that its user interrupts leaves the device signed in', async () => {
  cli.door.shut();
  const leaving = phone.run(['logout']);
  await until(() => existsSync(join(phone.config, 'leaving.json')));
  leaving.child.kill('SIGINT');
  expect(await leaving.status).toBe(130);
  cli.door.open();
  await phone.ok(['message', 'Laptop', 'still here']);
});

test.each([
  ['the next command', ['devices'], false],
  ['the next command, which reads the keys of the account first,', ['message', 'Laptop', 'hello'], false],
  ['a command that listens', ['inbox', '--follow'], true],
])(
  '%s of a removed device erases its keys, and sends nothing unencrypted after a sign-in',
  async (_, args, listens) => {
    await interruptSend(phone);
    const listening = listens ? phone.run(args) : null;
    if (listening !== null) await untilOnline('Phone');
    await laptop.ok(['remove', 'Phone']);
    const run = listening ?? phone.run(args);
    expect([await run.status, run.stderr()]).toEqual([
      3,
      expect.stringContaining(
        'This device was removed from the account, by another device or by the service. Its keys were erased from this computer.',
      ),
    ]);
    expect(secretsOf(phone)).toEqual([]);

    // An approval without the fragment gives no keys.
    const asking = phone.run(['login', cli.door.url, '--name', 'Phone']);
    const [link] = await asking.says(/http:\/\/\S+\/link\?[^#\s]+/);
    await laptop.ok(['approve', link, '--yes']);
    expect(await asking.status).toBe(0);
    const { stderr } = await phone.ok(['message', 'Laptop', 'secret'], { status: 5 });
    expect(stderr).toContain('The keys of this device were erased when it was removed, so nothing was sent.');
    await approve(laptop, phone.run(['keys', 'link']));
    await phone.ok(['message', 'Laptop', 'encrypted again']);
    expect(await jsonOf(laptop, 'inbox', '--plain')).toMatchObject([{ content: 'encrypted again', sealed: true }]);
  },
);

test('a sign-in that was killed after its approval does not keep this computer from signing in', async () => {
  const tablet = cli.terminal();
  const first = tablet.run(['login', cli.door.url, '--name', 'Tablet']);
  const [link] = await first.says(/http:\/\/\S+\/link\?\S+/);
  first.child.kill('SIGSTOP');
  await laptop.ok(['approve', link, '--yes']);
  first.child.kill('SIGKILL');
  await first.status;
  await approve(laptop, tablet.run(['login', cli.door.url, '--name', 'Tablet']));
  await tablet.ok(['message', 'Laptop', 'hello']);
  expect(await jsonOf(laptop, 'inbox')).toMatchObject([{ content: 'hello', sealed: true }]);
});

/** Refuses what is read from now on, as a service that does not know the session. */
function refuseReading(code: string): void {
  const body = JSON.stringify({ code, status: 401, title: 'Not signed in' });
  const head = ['HTTP/1.1 401 Unauthorized', 'Content-Type: application/problem+json', 'Connection: close'];
  cli.door.answer('GET ', `${[...head, `Content-Length: ${body.length}`].join('\r\n')}\r\n\r\n${body}`);
}

test.each([
  ['lists devices', ['devices']],
  ['reads the keys of the account first', ['message', 'Laptop', 'hello']],
])(
  'a session that expires while a command %s leaves the keys, because the account keeps its place',
  async (_, args) => {
    refuseReading('session_expired');
    await phone.ok(args, { status: 3 });
    expect(secretsOf(phone)).toEqual(['keys.json']);
    const { stderr } = await phone.ok(['status'], { status: 3 });
    expect(stderr).not.toContain('sign-out');
    expect(secretsOf(phone)).toEqual(['keys.json']);
  },
);

test('a command whose session another command has ended leaves the keys', async () => {
  const listening = phone.run(['inbox', '--follow']);
  await untilOnline('Phone');
  rmSync(join(phone.config, 'session.json'));
  refuseReading('unauthenticated');
  cli.door.shut();
  cli.door.open();
  expect(await listening.status).toBe(3);
  expect(listening.stderr()).not.toContain('removed');
  expect(secretsOf(phone)).toEqual(['keys.json']);
});

test('a removed device whose command is killed while it erases the keys does not forget that it had some', async () => {
  await laptop.ok(['remove', 'Phone']);
  // A folder in the place of the file stops the command there, as a kill does.
  const grant = join(phone.config, 'grant.json');
  mkdirSync(join(grant, 'in-the-way'), { recursive: true });
  await phone.ok(['devices'], { status: 3 });
  expect(existsSync(join(phone.config, 'erased-keys.json'))).toBe(true);
  rmSync(grant, { recursive: true });
  const { stderr } = await phone.ok(['status'], { status: 3 });
  expect(stderr).toContain('It is complete now.');
  expect(secretsOf(phone)).toEqual([]);
  expect(existsSync(join(phone.config, 'erased-keys.json'))).toBe(true);
  await phone.ok(['logout'], { status: 3 });
  expect(existsSync(join(phone.config, 'erased-keys.json'))).toBe(false);
});

async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  for (const end = Date.now() + 30_000; !(await isSo()); ) {
    if (Date.now() > end) throw new Error('not in time');
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

const untilOnline = (name: string): Promise<void> =>
  until(async () => new RegExp(`${name}.*online`).test((await laptop.ok(['devices'])).stdout));
