import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type CliSite, startCliSite, type Terminal } from './terminal.ts';

/*
 * A test has no systemd of a user. A program in its place notes what it is told, and the test runs the command of the unit as
 * systemd would.
 */

let cli: CliSite;
let laptop: Terminal;
let phone: Terminal;
beforeAll(async () => {
  cli = await startCliSite();
  [laptop, phone] = (await cli.devices('Laptop', 'Phone')) as [Terminal, Terminal];
});
afterAll(() => cli.stop());

/** Puts a program that notes its arguments into the path of a device. */
function noting(terminal: Terminal, name: string, ends = 0): () => string[] {
  const folder = join(terminal.folder, 'bin');
  const notes = join(folder, `${name}.notes`);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, name), `#!/bin/sh\nprintf '%s\\n' "$*" >> '${notes}'\nexit ${ends}\n`);
  chmodSync(join(folder, name), 0o755);
  return () => (existsSync(notes) ? readFileSync(notes, 'utf8').trim().split('\n') : []);
}

const environmentOf = ({ folder }: Terminal) => ({
  PATH: `${join(folder, 'bin')}:${process.env['PATH']}`,
  HOME: folder,
  XDG_CONFIG_HOME: join(folder, 'config'),
});

async function service(terminal: Terminal, ...args: string[]) {
  return serviceWith(terminal, {}, ...args);
}

async function serviceWith(terminal: Terminal, more: Record<string, string>, ...args: string[]) {
  const run = terminal.run(['service', ...args], { env: { ...environmentOf(terminal), ...more } });
  return { status: await run.status, said: run.stdout() + run.stderr() };
}

const unitPath = ({ folder }: Terminal): string => join(folder, 'config/systemd/user/baton-receive.service');

test('is installed, tells its state, receives with a notification, and is removed', async () => {
  const told = noting(phone, 'systemctl');
  const notified = noting(phone, 'notify-send');
  expect(await service(phone, 'status')).toMatchObject({ status: 4 });
  const dir = join(phone.folder, 'back ground');
  expect(await service(phone, 'install', '--dir', 'back ground', '--from', 'Laptop')).toMatchObject({
    status: 0,
    said: expect.stringContaining(dir) as string,
  });
  expect(told()).toEqual([
    '--user daemon-reload',
    '--user enable baton-receive.service',
    '--user restart baton-receive.service',
  ]);
  expect(await service(phone, 'status')).toMatchObject({ status: 0 });

  const unit = readFileSync(unitPath(phone), 'utf8');
  const command = [...(/^ExecStart=(.*)$/m.exec(unit)?.[1] ?? '').matchAll(/"([^"]*)"/g)].map(([, word]) => word ?? '');
  expect(command.slice(2)).toEqual(['receive', '--yes', '--notify', '--dir', dir, '--from', 'Laptop']);
  const running = phone.run(command.slice(2), { env: environmentOf(phone) });
  await running.says(/Waiting for files/);
  writeFileSync(join(laptop.folder, 'note.txt'), 'hello');
  await laptop.ok(['send', 'note.txt', '--to', 'Phone']);
  while (notified().length === 0) await new Promise((resolve) => setTimeout(resolve, 20));
  expect(notified()).toEqual(['--app-name=Baton -- Files from Laptop note.txt']);
  expect(readFileSync(join(dir, 'note.txt'), 'utf8')).toBe('hello');
  running.child.kill('SIGINT');
  await running.status;

  expect(await service(phone, 'uninstall')).toMatchObject({ status: 0 });
  expect(existsSync(unitPath(phone))).toBe(false);
  expect(await service(phone, 'uninstall')).toMatchObject({ status: 4 });
});

test('is not installed for a stranger, for a device that nobody has, or with --print', async () => {
  const told = noting(laptop, 'systemctl');
  const stranger = cli.terminal();
  expect(await service(stranger, 'install')).toMatchObject({ status: 3 });
  expect(await service(laptop, 'install', '--from', 'Nobody')).toMatchObject({ status: 4 });
  const { said } = await service(laptop, 'install', '--print');
  expect(said).toContain(`"--dir" "${join(laptop.folder, 'Downloads')}"`);
  expect(said).toContain('Environment="BATON_CONFIG_DIR=');
  expect([existsSync(unitPath(laptop)), told()]).toEqual([false, []]);
  expect(await service(laptop, 'dance')).toMatchObject({ status: 2 });
});

test('says what systemd said when it refuses', async () => {
  noting(laptop, 'systemctl', 1);
  const { status, said } = await service(laptop, 'install');
  expect([status, said]).toEqual([1, expect.stringContaining('`systemctl --user daemon-reload` ended with status 1')]);
});

test('keeps the way to the service, the mask and a lasting Node, and its status says when that Node is gone', async () => {
  noting(phone, 'systemctl');
  const node = join(phone.folder, 'bin', 'node');
  symlinkSync(process.execPath, node);
  mkdirSync(join(phone.folder, 'config'), { recursive: true });
  writeFileSync(join(phone.folder, 'config/user-dirs.dirs'), 'XDG_DOWNLOAD_DIR="$HOME/Geladenes"\n');
  const proxy = 'http://ann:secret@proxy.example:3128';
  const needed = { HTTPS_PROXY: proxy, no_proxy: 'a.example', NODE_USE_ENV_PROXY: '1', NODE_EXTRA_CA_CERTS: '/ca.pem' };
  const mask = process.umask(0o027);
  const { said } = await serviceWith(phone, needed, 'install', '--print');
  expect(await serviceWith(phone, needed, 'install')).toMatchObject({ status: 0 });
  process.umask(mask);
  expect(said).toContain('Environment="HTTPS_PROXY=http://***@proxy.example:3128"');
  expect(said).not.toContain('secret');
  const unit = readFileSync(unitPath(phone), 'utf8');
  for (const [name, value] of Object.entries(needed)) expect(unit).toContain(`Environment="${name}=${value}"\n`);
  expect(unit).toContain('UMask=0027\n');
  expect(unit).toContain(`ExecStart="${node}" `);
  expect(unit).toContain(`"--dir" "${join(phone.folder, 'Geladenes')}"`);

  expect(await service(phone, 'status')).toMatchObject({ status: 0 });
  rmSync(node);
  const after = await service(phone, 'status');
  expect(after).toMatchObject({ status: 1, said: expect.stringContaining(`${node} is gone`) as string });
  expect(await service(phone, 'uninstall')).toMatchObject({ status: 0 });
});

test('a service that cannot be reached is said to need a proxy that is set and not used', async () => {
  const proxy = { HTTP_PROXY: 'http://proxy.example:3128' };
  const ask = async (url: string): Promise<string> => {
    const run = cli.terminal().run(['login', url, '--plain-http'], { env: proxy });
    expect(await run.status).toBe(6);
    return run.stderr();
  };
  const advice = 'HTTP_PROXY is set but not used';
  // No resolver has a name of this ending (RFC 6761).
  expect(await ask('http://baton.invalid')).toContain(`The service cannot be reached. ${advice}`);
  expect(await ask('http://127.0.0.1:9')).not.toContain(advice);
});
