import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { approve, devicesWithKeys, jsonOf } from './keyed-devices.ts';
import { type CliSite, startCliSite, type Terminal } from './terminal.ts';

/* A device has its session, but not its keys. */

let cli: CliSite;
beforeAll(async () => {
  cli = await startCliSite();
});
afterAll(() => cli.stop());

const loseKeys = (terminal: Terminal): void => rmSync(join(terminal.config, 'keys.json'));
const isNoted = (terminal: Terminal): boolean => existsSync(join(terminal.config, 'without-keys.json'));

/** Runs a command that must not send, and returns the code of its error. */
async function refusal(terminal: Terminal, args: readonly string[], input?: string): Promise<string> {
  const given = input === undefined ? {} : { input };
  const { stderr } = await terminal.ok([...args, '--json'], { ...given, status: 5 });
  return (JSON.parse(stderr) as { error: { code: string } }).error.code;
}

test('a device whose keys are gone sends nothing unencrypted, and says how to get new ones', async () => {
  const [laptop, phone] = (await devicesWithKeys(cli, ['Laptop', 'Phone'])) as [Terminal, Terminal];
  loseKeys(phone);
  writeFileSync(join(phone.folder, 'secret.txt'), 'secret');
  expect(await refusal(phone, ['message', 'Laptop', 'secret'])).toBe('keys_lost');
  expect(await refusal(phone, ['copy'], 'secret')).toBe('keys_lost');
  expect(await refusal(phone, ['send', 'secret.txt', '--to', 'Laptop', '--leave'])).toBe('keys_lost');
  expect((await phone.ok(['message', 'Laptop', 'secret'], { status: 5 })).stderr).toContain('`baton keys link`');
  expect(await jsonOf(phone, 'keys')).toMatchObject([
    { encrypted: true, keyed: false, lost: true, advice: expect.stringContaining('`baton keys recover`') },
  ]);
  expect(await jsonOf(laptop, 'inbox', '--plain')).toEqual([]);
  expect((await laptop.ok(['transfers'])).stdout).not.toContain('Phone');

  await phone.ok(['message', 'Laptop', 'in the clear', '--plain']);
  await approve(laptop, phone.run(['keys', 'link']));
  await phone.ok(['message', 'Laptop', 'encrypted again']);
  expect(await jsonOf(laptop, 'inbox', '--plain')).toMatchObject([
    { content: 'in the clear', sealed: false },
    { content: 'encrypted again', sealed: true },
  ]);
});

test('a device whose keys are gone does not go on with what it had begun to send, unless that is said', async () => {
  const [laptop, phone] = (await devicesWithKeys(cli, ['Laptop', 'Phone'])) as [Terminal, Terminal];
  writeFileSync(join(phone.folder, 'secret.txt'), 'secret');
  const sending = phone.run(['send', 'secret.txt', '--to', 'Laptop']);
  await sending.says(/is not connected/);
  sending.child.kill('SIGINT');
  expect(await sending.status).toBe(130);
  loseKeys(phone);
  expect(await refusal(phone, ['send', '--continue'])).toBe('keys_lost');
  const receiving = laptop.run(['receive', '--yes', '--once']);
  // The send was sealed when it began, and stays sealed.
  expect(await jsonOf(phone, 'send', '--continue', '--plain')).toMatchObject([{ sealed: true, state: 'DONE' }]);
  expect(await receiving.status).toBe(0);
});

test('a device whose keys are gone takes nothing unencrypted for what its user expects', async () => {
  // Both lose their keys, so that Laptop can send what the service could have written.
  const [laptop, phone] = (await devicesWithKeys(cli, ['Laptop', 'Phone'])) as [Terminal, Terminal];
  loseKeys(phone);
  loseKeys(laptop);
  await laptop.ok(['message', 'Phone', 'written by the service', '--plain']);
  expect(await jsonOf(phone, 'inbox')).toMatchObject([{ content: null, problem: { code: 'not_encrypted' } }]);
  expect(await jsonOf(phone, 'inbox', '--plain')).toMatchObject([{ content: 'written by the service', sealed: false }]);
  await laptop.ok(['copy', '--plain'], { input: 'copied by the service' });
  expect(await refusal(phone, ['paste'])).toBe('not_encrypted');
  expect((await phone.ok(['paste', '--plain'])).stdout).toBe('copied by the service');
  writeFileSync(join(laptop.folder, 'page.txt'), 'sent by the service');
  await laptop.ok(['send', 'page.txt', '--to', 'Phone', '--plain', '--leave']);
  const receiving = phone.run(['receive', '--yes']);
  await receiving.says(/not encrypted/);
  receiving.child.kill('SIGKILL');
  await receiving.status;
  expect(existsSync(join(phone.folder, 'page.txt'))).toBe(false);
});

test('a device whose keys are gone says that it can give none, before it lets another one in', async () => {
  const [, phone] = (await devicesWithKeys(cli, ['Laptop', 'Phone'])) as [Terminal, Terminal];
  loseKeys(phone);
  const visitor = cli.terminal();
  const login = visitor.run(['login', cli.door.url, '--name', 'Visitor']);
  const [link] = await login.says(/http:\/\/\S+\/link\?\S+/);
  expect((await phone.ok(['approve', link, '--yes'])).stderr).toContain('it can give no keys');
  expect(await login.status).toBe(0);
  // The visitor never had keys, so there is nothing to say.
  const other = cli.terminal();
  const second = other.run(['login', cli.door.url, '--name', 'Other']);
  const [next] = await second.says(/http:\/\/\S+\/link\?\S+/);
  expect((await visitor.ok(['approve', next, '--yes'])).stderr).not.toContain('keys');
  expect(await second.status).toBe(0);
});

test('a device for an hour whose keys are gone sends nothing unencrypted either', async () => {
  const [laptop] = (await devicesWithKeys(cli, ['Laptop'])) as [Terminal];
  const visitor = cli.terminal();
  await approve(laptop, visitor.run(['login', cli.door.url, '--name', 'Visitor']), '--once');
  loseKeys(visitor);
  expect(await refusal(visitor, ['message', 'Laptop', 'secret'])).toBe('keys_lost');
});

test('a device that was known without keys, and got some, sends nothing unencrypted once they are gone', async () => {
  const [laptop, phone] = (await cli.devices('Laptop', 'Phone')) as [Terminal, Terminal];
  await phone.ok(['message', 'Laptop', 'before']);
  await laptop.ok(['message', 'Phone', 'before']);
  expect([isNoted(laptop), isNoted(phone)]).toEqual([true, true]);
  await laptop.ok(['keys', 'create']);
  await approve(laptop, phone.run(['keys', 'link']));
  expect([isNoted(laptop), isNoted(phone)]).toEqual([false, false]);
  loseKeys(phone);
  loseKeys(laptop);
  expect(await refusal(phone, ['message', 'Laptop', 'secret'])).toBe('keys_lost');
  expect(await refusal(laptop, ['copy'], 'secret')).toBe('keys_lost');
});

test('a device without keys asks once whether it had any, and not with each command', async () => {
  const [laptop] = (await cli.devices('Laptop', 'Phone')) as [Terminal, Terminal];
  await laptop.ok(['message', 'Phone', 'one']);
  // The answer to another such question would never come.
  void cli.door.keepAnswer('GET /api/keys');
  expect((await laptop.ok(['message', 'Phone', 'two'])).stdout).toContain('Phone');
});
