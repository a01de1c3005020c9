import { createHash, randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { connectTo, keysUnder, sharedRedisUrl } from '../support/redis/redis.ts';
import { dumpsHolding } from '../support/redis/stored.ts';
import { approve, devicesWithKeys, jsonOf } from './keyed-devices.ts';
import { type CliSite, type Run, startCliSite, type Terminal } from './terminal.ts';

/* Files of an encrypted account: what the service keeps of them, and what becomes of a file that somebody changes. */

const MIB = 1024 * 1024;

let cli: CliSite;
let redis: ReturnType<typeof connectTo>;
let laptop: Terminal;
let phone: Terminal;
beforeAll(async () => {
  redis = connectTo(sharedRedisUrl());
  cli = await startCliSite();
  [laptop, phone] = (await devicesWithKeys(cli, ['Laptop', 'Phone'])) as [Terminal, Terminal];
});
afterAll(async () => {
  redis.disconnect();
  await cli.stop();
});

const digest = (path: string): string => createHash('sha256').update(readFileSync(path)).digest('hex');

async function receiving(folder: string, ...more: string[]): Promise<Run> {
  const run = phone.run(['receive', '--dir', folder, '--yes', '--once', ...more]);
  await run.says(/Waiting for/);
  return run;
}

/** Returns every file under a folder of the phone. */
function filesIn(folder: string): string[] {
  const at = join(phone.folder, folder);
  const found = existsSync(at) ? readdirSync(at, { recursive: true, withFileTypes: true }) : [];
  return found.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name));
}

/** Resolves when this much of a file is stored under the folder. */
async function stored(folder: string, bytes: number): Promise<void> {
  const sizes = () => filesIn(folder).map((path) => statSync(path, { throwIfNoEntry: false })?.size ?? 0);
  for (const until = Date.now() + 60_000; Date.now() < until; ) {
    if (sizes().some((size) => size >= bytes)) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  throw new Error('nothing was stored');
}

const WRITTEN_AT = new Date('2009-08-07T06:05:04Z');

test('names and contents are in no key and no value of the store, and were before the account had keys', async () => {
  const [one, two] = (await cli.devices('One', 'Two')) as [Terminal, Terminal];
  const word = (what: string) => `planted-${what}-${Math.random().toString(36).slice(2)}`;
  const leave = async (): Promise<string[]> => {
    const [folder, name, content, piped] = [word('folder'), word('name'), word('content'), word('piped')];
    mkdirSync(join(one.folder, folder));
    writeFileSync(join(one.folder, folder, name), content);
    writeFileSync(join(one.folder, folder, 'empty'), '');
    for (const file of [name, 'empty']) utimesSync(join(one.folder, folder, file), WRITTEN_AT, WRITTEN_AT);
    await one.ok(['send', folder, '--to', 'Two', '--leave']);
    await one.ok(['send', '-', '--to', 'Two', '--leave', '--name', word('input')], { input: piped });
    return [folder, name, content, piped];
  };
  const found = async (words: readonly string[]) =>
    (await Promise.all(words.map((each) => dumpsHolding(redis, cli.site.prefix, each)))).map(
      ({ length }) => length > 0,
    );
  expect(await found(await leave())).toEqual([true, true, true, true]);
  for (const { transfer_id: id } of ((await jsonOf(one, 'transfers'))[0]?.['transfers'] ?? []) as never[]) {
    await one.ok(['cancel', id]);
  }
  await one.ok(['keys', 'create']);
  await approve(one, two.run(['keys', 'link']));
  const [folder, name, content, piped] = (await leave()) as [string, string, string, string];
  expect(await found([folder, name, content, piped])).toEqual([false, false, false, false]);

  expect((await two.ok(['transfers'])).stdout).toMatch(/2 files\n.*1 file|1 file\n.*2 files/s);
  const [first] = await jsonOf(two, 'receive', '--yes', '--once', '--dir', 'in');
  const [second] = await jsonOf(two, 'receive', '--yes', '--once', '--dir', 'in');
  expect([first, second]).toMatchObject([{ sealed: true }, { sealed: true }]);
  expect(readFileSync(join(two.folder, 'in', folder, name), 'utf8')).toBe(content);
  expect(statSync(join(two.folder, 'in', folder, name)).mtime).toEqual(WRITTEN_AT);
  expect(readFileSync(join(two.folder, 'in', folder, 'empty'), 'utf8')).toBe('');
  expect(readFileSync((second as { files: string[] }).files[0] ?? '', 'utf8')).toBe(piped);
});

test('a folder of many small files, and a file with a name of every kind, arrive as they are', async () => {
  const top = join(laptop.folder, 'many');
  mkdirSync(top);
  for (let index = 0; index < 200; index += 1) writeFileSync(join(top, `small ${index}.txt`), `content ${index}`);
  utimesSync(join(top, 'small 7.txt'), WRITTEN_AT, WRITTEN_AT);
  writeFileSync(join(laptop.folder, 'ünïcode \u202Eé.bin'), randomBytes(300_000));
  const run = await receiving('folder');
  const { stdout, stderr } = await laptop.ok(['send', 'many', 'ünïcode \u202Eé.bin', '--to', 'Phone']);
  expect([await run.status, run.stderr()]).toEqual([0, expect.stringContaining('\u{1F512} Laptop sends')]);
  expect([stdout, stderr]).toEqual([expect.stringContaining('\u{1F512} Sent to Phone'), expect.any(String)]);
  const names = readdirSync(join(phone.folder, 'folder', 'many'));
  expect(names.length).toBe(200);
  expect(statSync(join(phone.folder, 'folder', 'many', 'small 7.txt')).mtime).toEqual(WRITTEN_AT);
  for (const name of names) {
    expect(digest(join(phone.folder, 'folder', 'many', name))).toBe(digest(join(top, name)));
  }
  expect(filesIn('folder').map(digest)).toContain(digest(join(laptop.folder, 'ünïcode \u202Eé.bin')));
});

describe('a big file', () => {
  beforeAll(() => writeFileSync(join(laptop.folder, 'big.bin'), randomBytes(100 * MIB)));
  const expectSame = (folder: string) => {
    expect(digest(join(phone.folder, folder, 'big.bin'))).toBe(digest(join(laptop.folder, 'big.bin')));
    expect(readdirSync(join(phone.folder, folder))).toEqual(['big.bin']);
  };

  test('goes on at a record when the receiver is killed in the middle, and then the sender', async () => {
    const first = await receiving('killed');
    const sending = laptop.run(['send', 'big.bin', '--to', 'Phone']);
    await stored('killed', 8 * MIB);
    first.child.kill('SIGKILL');
    expect(await first.status).toBe(137);
    const had = Math.max(...filesIn('killed').map((path) => statSync(path).size));
    const second = await receiving('killed');
    await second.says(/going on/);
    await stored('killed', had + 8 * MIB);
    sending.child.kill('SIGKILL');
    expect(await sending.status).toBe(137);
    const { stdout, stderr } = await laptop.ok(['send', 'big.bin', '--to', 'Phone']);
    expect([stdout, stderr]).toEqual([
      expect.stringContaining('\u{1F512} Sent to Phone'),
      expect.stringContaining('Going on where it stopped'),
    ]);
    expect([await second.status, second.stderr()]).toEqual([0, expect.any(String)]);
    expectSame('killed');
    // The key of the files goes with the record of the send.
    expect(readdirSync(join(laptop.config, 'sends')).filter((name) => !name.endsWith('.claim'))).toEqual([]);
  });
});

test('a byte that somebody changes in the store fails the file on both sides, and it gets no name', async () => {
  writeFileSync(join(laptop.folder, 'changed.bin'), randomBytes(MIB));
  const before = new Set(await keysUnder(redis, cli.site.prefix, ':relay:*'));
  await laptop.ok(['send', 'changed.bin', '--to', 'Phone', '--leave']);
  const keys = (await keysUnder(redis, cli.site.prefix, ':relay:*')).filter((key) => !before.has(key));
  let changed = 0;
  for (const key of keys) {
    if ((await redis.type(key)) !== 'stream') continue;
    const entries = (await redis.xrangeBuffer(key, '-', '+')) as unknown as [Buffer, Buffer[]][];
    await redis.del(key);
    for (const [id, fields] of entries) {
      const large = fields.find((value) => value.length > 1_000);
      if (large !== undefined && changed === 0) {
        large[large.length - 7] = (large[large.length - 7] ?? 0) ^ 1;
        changed += 1;
      }
      await redis.xadd(key, id.toString(), ...(fields as never as [string, string]));
    }
  }
  expect(changed).toBe(1);
  const run = phone.run(['receive', '--dir', 'changed', '--yes', '--once']);
  expect(await run.status).toBe(1);
  expect(run.stderr()).toContain('The file was changed on the way, or is not complete');
  expect(run.stderr()).toContain('changed.bin');
  expect(filesIn('changed')).toEqual([]);
  const again = await laptop.ok(['send', '--continue']);
  expect(again.stderr).toContain('changed.bin');
});

test('files go to a device without keys only where that was said, and come from one only where that was said', async () => {
  const old = cli.terminal();
  const asking = old.run(['login', cli.door.url, '--name', 'Old']);
  const [link] = await asking.says(/http:\/\/\S+\/link\?[^#\s]+/);
  await laptop.ok(['approve', link.split('#')[0] as string, '--yes']);
  expect(await asking.status).toBe(0);
  writeFileSync(join(laptop.folder, 'open.txt'), 'open');

  const refused = await laptop.ok(['send', 'open.txt', '--to', 'Old'], { status: 1 });
  expect(refused.stderr).toContain('The other device has no keys');
  expect(refused.stderr).toContain('--plain');
  expect((await jsonOf(laptop, 'transfers'))[0]).toEqual({ transfers: [] });
  const taking = old.run(['receive', '--yes', '--once', '--dir', 'in']);
  await taking.says(/Waiting for/);
  expect(await jsonOf(laptop, 'send', 'open.txt', '--to', 'Old', '--plain')).toMatchObject([{ sealed: false }]);
  expect(await taking.status).toBe(0);
  expect(readFileSync(join(old.folder, 'in', 'open.txt'), 'utf8')).toBe('open');

  writeFileSync(join(old.folder, 'from-old.txt'), 'from the old one');
  await old.ok(['send', 'from-old.txt', '--to', 'Phone', '--leave']);
  const waiting = await receiving('plain');
  await waiting.says(/Old sends files that are not taken: they are not encrypted: the service could have written this/);
  waiting.child.kill('SIGINT');
  await waiting.status;
  expect(filesIn('plain')).toEqual([]);
  const asked = phone.run(['receive', '--dir', 'plain', '--once'], { onTerminal: true });
  await asked.says(/from-old\.txt.*\(not encrypted: the service could have written this\)\. Take it\?/);
  asked.child.kill('SIGKILL');
  await asked.status;
  const plain = await receiving('plain', '--plain');
  expect(await plain.status).toBe(0);
  expect(filesIn('plain').map((path) => readFileSync(path, 'utf8'))).toEqual(['from the old one']);
});

test('a device whose keys belong to an earlier sign-in sends nothing without encryption unasked', async () => {
  const [one, two] = (await devicesWithKeys(cli, ['One', 'Two'])) as [Terminal, Terminal];
  writeFileSync(join(two.config, 'keys.json'), readFileSync(join(one.config, 'keys.json')), { mode: 0o600 });
  writeFileSync(join(two.folder, 'secret.txt'), 'secret');
  for (const command of [['send', 'secret.txt', '--to', 'One', '--leave'], ['message', 'One', 'secret'], ['copy']]) {
    const { stderr } = await two.ok(command, { input: 'secret', status: 5 });
    expect(stderr).toContain('belong to an earlier sign-in, so nothing was sent');
  }
  expect(await jsonOf(one, 'inbox')).toEqual([]);
  await two.ok(['message', 'One', 'open', '--plain']);
});

test('a send that was begun in the clear goes on in the clear only where that was said', async () => {
  const [one, two] = (await cli.devices('One', 'Two')) as [Terminal, Terminal];
  const interrupted = async (...more: string[]) => {
    const run = one.run(['send', 'large.bin', '--to', 'Two', ...more]);
    await run.says(/is not connected/);
    run.child.kill('SIGINT');
    expect(await run.status).toBe(130);
  };
  writeFileSync(join(one.folder, 'large.bin'), randomBytes(MIB));
  await interrupted();
  await one.ok(['keys', 'create']);
  await approve(one, two.run(['keys', 'link']));
  const refused = await one.ok(['send', '--continue'], { status: 5 });
  expect(refused.stderr).toContain('begun without encryption, and the account is encrypted now: large.bin');
  const plain = two.run(['receive', '--dir', 'in', '--yes', '--once', '--plain']);
  expect(await jsonOf(one, 'send', '--continue', '--plain')).toMatchObject([{ sealed: false, state: 'DONE' }]);
  expect(await plain.status).toBe(0);
  await interrupted('--plain');
  const again = two.run(['receive', '--dir', 'again', '--yes', '--once', '--plain']);
  expect(await jsonOf(one, 'send', '--continue')).toMatchObject([{ sealed: false, state: 'DONE' }]);
  expect(await again.status).toBe(0);
});

test('a receiver that has lost its keys says so, and the sender is told', async () => {
  const [one, two] = (await devicesWithKeys(cli, ['One', 'Two'])) as [Terminal, Terminal];
  writeFileSync(join(one.folder, 'secret.txt'), 'secret');
  const bare = cli.terminal();
  mkdirSync(bare.config, { recursive: true });
  writeFileSync(join(bare.config, 'session.json'), readFileSync(join(two.config, 'session.json')), { mode: 0o600 });
  const run = bare.run(['receive', '--yes', '--dir', 'in']);
  await run.says(/Waiting for/);
  const failed = await one.ok(['send', 'secret.txt', '--to', 'Two'], { status: 1 });
  expect(failed.stderr).toContain('The other device could not open what was sealed for it');
  await run.says(/One sends files that are not taken: This device has no keys: link it/);
  run.child.kill('SIGINT');
  await run.status;
  expect(existsSync(join(bare.folder, 'in', 'secret.txt'))).toBe(false);
});
