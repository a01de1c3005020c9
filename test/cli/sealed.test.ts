import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { connectTo, sharedRedisUrl } from '../support/redis/redis.ts';
import { dumpsHolding } from '../support/redis/stored.ts';
import { approve, devicesWithKeys, jsonOf, type Line } from './keyed-devices.ts';
import { type CliSite, startCliSite, type Terminal } from './terminal.ts';

/*
 * An encrypted account as its users have it: what the service keeps of it, and what becomes of anything that the
 * service changes.
 */

let cli: CliSite;
let redis: ReturnType<typeof connectTo>;
beforeAll(async () => {
  redis = connectTo(sharedRedisUrl());
  cli = await startCliSite();
});
afterAll(async () => {
  redis.disconnect();
  await cli.stop();
});

const json = jsonOf;
const keyedDevices = (...names: string[]) => devicesWithKeys(cli, names);

describe('keys of an account', () => {
  test('are made once, for their owner alone, and given to a device by its login with nothing more to type', async () => {
    const [laptop, phone] = (await keyedDevices('Laptop', 'Phone')) as [Terminal, Terminal];
    expect(statSync(join(laptop.config, 'keys.json')).mode & 0o777).toBe(0o600);
    const [own] = await json(laptop, 'keys');
    const [theirs] = await json(phone, 'keys');
    expect(own).toMatchObject({ encrypted: true, keyed: true, n: 2, epoch: 1, advice: null });
    const fingerprints = (line: Line | undefined) =>
      Object.fromEntries(((line?.['devices'] ?? []) as Line[]).map(({ name, fingerprint }) => [name, fingerprint]));
    expect(fingerprints(own)).toEqual(fingerprints(theirs));
    expect(fingerprints(own)).toEqual({
      Laptop: expect.stringMatching(/^[0-9a-f]{4}( [0-9a-f]{4}){7}$/),
      Phone: expect.stringMatching(/^[0-9a-f]{4}( [0-9a-f]{4}){7}$/),
    });
    const [again] = await json(laptop, 'keys', 'create');
    expect(again).toMatchObject({ keyed: true, fingerprint: fingerprints(own)['Laptop'] });
  });

  test('made by two programs at once, and by one that was killed after the service had them, are one', async () => {
    const [laptop] = (await cli.devices('Twice')) as [Terminal];
    const unheard = cli.door.keepAnswer('PUT /api/keys');
    const killed = laptop.run(['keys', 'create']);
    await unheard;
    killed.child.kill('SIGKILL');
    await killed.status;
    const [one, two] = [laptop.run(['keys', 'create']), laptop.run(['keys', 'create'])];
    expect([await one.status, await two.status]).toEqual([0, 0]);
    const [list] = await json(laptop, 'keys');
    expect(list).toMatchObject({ n: 1, epoch: 1, keyed: true });
  });

  test('are asked for by a device that is signed in without, which says so until then', async () => {
    const [laptop, phone] = (await cli.devices('Laptop', 'Old phone')) as [Terminal, Terminal];
    expect((await phone.ok(['keys'])).stdout).toContain('This account is not encrypted');
    await laptop.ok(['keys', 'create']);
    expect((await phone.ok(['keys'])).stdout).toContain('Run `baton keys link`');
    expect((await phone.ok(['keys', 'create'], { status: 1 })).stderr).toContain('encrypted already');
    const [list] = await json(laptop, 'keys');
    expect(list).toMatchObject({ advice: expect.stringContaining('Without keys: Old phone') });
    const [shown, taken] = await approve(laptop, phone.run(['keys', 'link']));
    expect([shown, taken]).toEqual([expect.stringMatching(/^\d{4}$/), shown]);
    await phone.ok(['message', 'Laptop', 'linked']);
    expect(await json(laptop, 'inbox')).toMatchObject([{ content: 'linked', sealed: true }]);
  });
});

test('a device loses its place in the ring before its session, also where the command is killed between them', async () => {
  const [laptop, phone, third] = (await keyedDevices('Laptop', 'Phone', 'Third')) as [Terminal, Terminal, Terminal];
  const isPut = cli.door.keepAnswer('PUT /api/keys');
  const killed = laptop.run(['remove', 'Third']);
  await isPut;
  killed.child.kill('SIGKILL');
  await killed.status;
  expect(await json(third, 'status')).toMatchObject([{ device: { name: 'Third' } }]);
  expect(await json(phone, 'keys')).toMatchObject([{ n: 4, epoch: 2, advice: expect.stringContaining('Third') }]);
  await laptop.ok(['remove', 'Third']);
  expect(await third.run(['status']).status).not.toBe(0);
  expect(await json(phone, 'keys')).toMatchObject([{ advice: null }]);
});

describe('texts', () => {
  test('are in no key and no value of the store once the account has keys, and were before', async () => {
    const [laptop, phone] = (await cli.devices('Laptop', 'Phone')) as [Terminal, Terminal];
    const word = (name: string) => `planted-${name}-${Math.random().toString(36).slice(2)}`;
    const plant = async (): Promise<[string, string]> => {
      const [message, copied] = [word('message'), word('copied')];
      await laptop.ok(['message', 'Phone', message]);
      await laptop.ok(['message', '*', message]);
      await laptop.ok(['copy'], { input: copied });
      return [message, copied];
    };
    const found = async (words: readonly string[]) => {
      const holding = words.map((each) => dumpsHolding(redis, cli.site.prefix, each));
      return (await Promise.all(holding)).map(({ length }) => length > 0);
    };
    expect(await found(await plant())).toEqual([true, true]);
    await phone.ok(['inbox']);
    await laptop.ok(['keys', 'create']);
    await approve(laptop, phone.run(['keys', 'link']));
    const [message, copied] = await plant();
    expect(await found([message, copied])).toEqual([false, false]);
    expect(await json(phone, 'inbox')).toMatchObject([
      { content: message, sealed: true, from_name: 'Laptop' },
      { content: message, sealed: true },
    ]);
    expect((await phone.ok(['paste'])).stdout).toBe(copied);
    expect(await json(phone, 'paste')).toMatchObject([{ content: copied, sealed: true }]);
  });

  test('go to a device without keys only where that was said, and are shown as what they are', async () => {
    const [laptop, phone] = (await keyedDevices('Laptop', 'Phone')) as [Terminal, Terminal];
    const old = cli.terminal();
    const asking = old.run(['login', cli.door.url, '--name', 'Old']);
    const [link] = await asking.says(/http:\/\/\S+\/link\?[^#\s]+/);
    expect((await laptop.ok(['approve', link.split('#')[0] as string, '--yes'])).stderr).toContain('It gets no keys');
    expect(await asking.status).toBe(0);
    expect(asking.stderr()).toContain('this device has no keys');

    expect((await laptop.ok(['message', 'Old', 'secret'], { status: 1 })).stderr).toContain('has no keys');
    expect(await json(laptop, 'message', '*', 'to those with keys')).toMatchObject([
      { sealed: true, to: [{ name: 'Phone', sealed: true }], not_sent_to: [{ name: 'Old' }] },
    ]);
    expect((await laptop.ok(['message', 'Old', 'open', '--plain'])).stdout).toContain(
      'Old: kept until it comes (not encrypted',
    );
    expect(await json(old, 'inbox')).toMatchObject([{ content: 'open', sealed: false }]);

    await laptop.ok(['copy'], { input: 'for keys' });
    expect((await old.ok(['paste'], { status: 5 })).stderr).toContain('This device has no keys');

    await old.ok(['message', 'Phone', 'from the old one']);
    const withheld = { content: null, sealed: false, problem: { code: 'not_encrypted' } };
    expect(await json(phone, 'inbox')).toMatchObject([{ content: 'to those with keys', sealed: true }, withheld]);
    expect((await phone.ok(['inbox', '--plain'])).stdout).toContain(
      'Old (not encrypted: the service could have written this): from the old one',
    );
    expect(await phone.ok(['inbox'])).toMatchObject({ stdout: '', stderr: 'No messages.\n' });

    await old.ok(['copy'], { input: 'open' });
    expect((await phone.ok(['paste'], { status: 5 })).stdout).toBe('');
    expect((await phone.ok(['paste', '--plain'])).stdout).toBe('open');
  });

  test('are not sealed under a key that a removed device has', async () => {
    const [laptop, phone, third] = (await keyedDevices('Laptop', 'Phone', 'Third')) as [Terminal, Terminal, Terminal];
    const kept = readFileSync(join(third.config, 'keys.json'), 'utf8');
    await laptop.ok(['remove', 'Third']);
    expect(await json(laptop, 'keys')).toMatchObject([{ epoch: 2, n: 4, advice: null }]);
    await phone.ok(['message', 'Laptop', 'without it']);
    expect(await json(laptop, 'inbox')).toMatchObject([{ content: 'without it', sealed: true }]);
    expect(kept).not.toContain('"n":4');

    // A connected command hears of it, and the next ones know.
    const listening = laptop.run(['receive', '--dir', 'in', '--yes']);
    await listening.says(/Waiting for/);
    await phone.ok(['logout']);
    const removed = () =>
      (JSON.parse(readFileSync(join(laptop.config, 'keys.json'), 'utf8')) as { removed?: string[] }).removed ?? [];
    while (removed().length === 0) await new Promise((resolve) => setTimeout(resolve, 50));
    listening.child.kill('SIGINT');
    await listening.status;
    expect((await laptop.ok(['copy'], { input: 'x', status: 1 })).stderr).toContain('A device was removed');
    expect((await laptop.ok(['keys'])).stderr).toContain('baton keys rotate');
    await laptop.ok(['keys', 'rotate', '--yes']);
    expect(await json(laptop, 'keys')).toMatchObject([{ epoch: 3, advice: null }]);
    await laptop.ok(['copy'], { input: 'x' });
  });
});
