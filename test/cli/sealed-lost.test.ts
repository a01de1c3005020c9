import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { approve, devicesWithKeys, jsonOf } from './keyed-devices.ts';
import { type CliSite, startCliSite, type Terminal } from './terminal.ts';

/* A device whose session is there, and whose keys are not. */

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
  // The answer to another question would never come.
  void cli.door.keepAnswer('GET /api/keys');
  expect((await laptop.ok(['message', 'Phone', 'two'])).stdout).toContain('Phone');
});
