import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
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
  const run = terminal.run(['service', ...args], { env: environmentOf(terminal) });
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
