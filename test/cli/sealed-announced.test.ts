import { join } from 'node:path';
import { fileSession, sealingFiles, sha256 } from '../../shared/client/node.ts';
import { makeSealing } from '../../shared/client/sealing.ts';
import { devicesWithKeys, jsonOf } from './keyed-devices.ts';
import { type CliSite, startCliSite, type Terminal } from './terminal.ts';

/*
 * A session without keys can announce the removal of all keys of its account, a day later. A device with keys can
 * cancel that.
 */

let cli: CliSite;
let laptop: Terminal;
let phone: Terminal;
let old: Terminal;
beforeAll(async () => {
  cli = await startCliSite();
  [laptop, phone] = (await devicesWithKeys(cli, ['Laptop', 'Phone'])) as [Terminal, Terminal];
  old = cli.terminal();
  const asking = old.run(['login', cli.door.url, '--name', 'Old']);
  const [link] = await asking.says(/http:\/\/\S+\/link\?[^#\s]+/);
  await laptop.ok(['approve', link.split('#')[0] as string, '--yes']);
  await asking.status;
});
afterAll(() => cli.stop());

const SAID = 'All keys of this account are removed on';

/** Announces the removal of all keys as a device without keys. */
async function announce(): Promise<void> {
  const session = fileSession(join(old.config, 'session.json'));
  const { deletions } = makeSealing({ baseUrl: cli.door.url, session, sha256, ...sealingFiles(old.config) });
  expect(await deletions.announceRemoval()).toMatchObject({ of: 'keys' });
}

const announced = async (): Promise<unknown> => (await jsonOf(laptop, 'keys'))[0]?.['deletions'];

test('the announced removal of all keys is told by each command with keys, and cancelled by one', async () => {
  const listening = phone.run(['receive', '--dir', 'in', '--yes']);
  await listening.says(/Waiting for/);
  expect(await announced()).toEqual([]);
  await announce();
  await listening.says(new RegExp(SAID));
  expect((await laptop.ok(['message', 'Phone', 'hello'])).stderr).toContain(SAID);
  expect((await laptop.ok(['keys'])).stderr).toContain('Cancel it with `baton keys keep`');
  expect((await old.ok(['keys'])).stderr).toContain(SAID);
  expect(await announced()).toEqual([{ of: 'keys', at: expect.any(Number) }]);

  expect((await old.ok(['keys', 'keep'], { status: 1 })).stderr).toContain('This device has no keys');
  expect((await laptop.ok(['keys', 'keep'])).stdout).toContain('The removal is cancelled');
  expect(await announced()).toEqual([]);
  expect((await laptop.ok(['message', 'Phone', 'hello'])).stderr).not.toContain(SAID);
  expect((await phone.ok(['keys', 'keep'])).stdout).toContain('Nothing is about to be removed');
  listening.child.kill('SIGINT');
  await listening.status;
});

test('a command that is started after the announcement tells it once', async () => {
  await announce();
  const listening = phone.run(['receive', '--dir', 'in', '--yes']);
  await listening.says(new RegExp(SAID));
  listening.child.kill('SIGINT');
  await listening.status;
  expect(listening.stderr().split(SAID)).toHaveLength(2);
  await laptop.ok(['keys', 'keep']);
});
