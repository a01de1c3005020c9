import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { requestSignIn } from '../../shared/client/index.ts';
import { sealingFiles } from '../../shared/client/node.ts';
import { makeAsking } from '../../shared/client/sealing.ts';
import { connectTo, keysUnder, sharedRedisUrl } from '../support/redis/redis.ts';
import { dumpsHolding } from '../support/redis/stored.ts';
import { approve, devicesWithKeys, jsonOf, type Line } from './keyed-devices.ts';
import { type CliSite, startCliSite, type Terminal } from './terminal.ts';

/* A device is let in for an hour, in an encrypted account. What is sent to it is sealed for it, and nothing else is. */

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

const word = (name: string): string => `planted-${name}-${Math.random().toString(36).slice(2)}`;
const isStored = async (text: string): Promise<boolean> =>
  (await dumpsHolding(redis, cli.site.prefix, text)).length > 0;

/** Lets a new device in for an hour. */
async function guestOf(approver: Terminal, name: string): Promise<Terminal> {
  const guest = cli.terminal();
  const [shown, taken] = await approve(approver, guest.run(['login', cli.door.url, '--name', name]), '--once');
  expect([shown, taken]).toEqual([expect.stringMatching(/^\d{4}$/), shown]);
  return guest;
}

async function accountWithGuest(): Promise<[Terminal, Terminal, Terminal]> {
  const [laptop, phone] = (await devicesWithKeys(cli, ['Laptop', 'Phone'])) as [Terminal, Terminal];
  return [laptop, phone, await guestOf(laptop, 'Visitor')];
}

const kindsIn = ([line]: readonly Line[]) =>
  Object.fromEntries(((line?.['devices'] ?? []) as Line[]).map(({ name, kind }) => [name, kind]));

test('a device for an hour gets keys of its own, and no key of the account', async () => {
  const [laptop, , visitor] = await accountWithGuest();
  const kinds = { Laptop: 'cli', Phone: 'cli', Visitor: 'guest' };
  expect(kindsIn(await jsonOf(laptop, 'keys'))).toEqual(kinds);
  expect(kindsIn(await jsonOf(visitor, 'keys'))).toEqual(kinds);
  expect(await jsonOf(laptop, 'keys')).toMatchObject([{ n: 2, epoch: 1, advice: null }]);
  const { rings } = JSON.parse(readFileSync(join(visitor.config, 'keys.json'), 'utf8')) as { rings: string[] };
  const ring = JSON.parse(Buffer.from(rings.at(-1)?.split('.')[0] ?? '', 'base64url').toString()) as { wraps: object };
  expect(Object.keys(ring.wraps)).toHaveLength(2);
});

/** Returns the times at which the guests end, in the only account with such a guest. */
async function endsOf(guestId: string): Promise<number[]> {
  for (const key of await keysUnder(redis, cli.site.prefix)) {
    const stored = (await redis.type(key)) === 'hash' ? await redis.hget(key, 'guests') : null;
    const list = Buffer.from(stored?.split('.')[0] ?? '', 'base64url').toString();
    if (!list.includes(guestId)) continue;
    return (JSON.parse(list) as { guests: { until: number }[] }).guests.map(({ until }) => until);
  }
  return [];
}

test('its keys end with its session, not by the time that they have before the session is known', async () => {
  const [, , visitor] = await accountWithGuest();
  const read = (name: string) => JSON.parse(readFileSync(join(visitor.config, name), 'utf8')) as never;
  const { session_expires_at: end } = read('session.json') as { session_expires_at: number };
  const { account } = read('keys.json') as { account: { device_id: string } };
  const [until = 0] = await endsOf(account.device_id);
  expect(Math.abs(until - end)).toBeLessThan(10_000);
});

test('a browser that is let in as a guest gets keys of its own too', async () => {
  const [laptop] = (await devicesWithKeys(cli, ['Laptop'])) as [Terminal];
  const asking = await makeAsking(sealingFiles(cli.terminal().config));
  const about = { baseUrl: cli.door.url, deviceName: 'Browser', deviceType: 'browser' } as const;
  const request = await requestSignIn({ ...about, keys: asking.keys, onApproved: asking.keep });
  const approved = await jsonOf(laptop, 'approve', await asking.linkWith(request.link), '--guest', '--yes');
  expect(approved).toMatchObject([{ scope: 'guest', persist: 'persist', keyed: true, member: false }]);
  await request.approved();
  expect(kindsIn(await jsonOf(laptop, 'keys'))).toEqual({ Laptop: 'cli', Browser: 'guest' });
});

test('a browser that is let in for good is marked as a web app, and one that is a guest as that', async () => {
  const [laptop] = (await devicesWithKeys(cli, ['Laptop'])) as [Terminal];
  for (const [name, ...access] of [['Browser'], ['Borrowed', '--guest']] as const) {
    const asking = await makeAsking(sealingFiles(cli.terminal().config));
    const about = { baseUrl: cli.door.url, deviceName: name, deviceType: 'browser' } as const;
    const request = await requestSignIn({ ...about, keys: asking.keys, onApproved: asking.keep });
    await laptop.ok(['approve', await asking.linkWith(request.link), ...access, '--yes']);
    await request.approved();
  }
  const shown = (await laptop.ok(['keys'])).stdout;
  expect(['Laptop', 'Browser', 'Borrowed'].map((name) => new RegExp(`${name}( \\(.*?\\))?`).exec(shown)?.[0])).toEqual([
    ...['Laptop', 'Browser (web app)', 'Borrowed (guest)'],
  ]);
});

test('messages and files to it, from it and to all are sealed, and the store has none of them', async () => {
  const [laptop, phone, visitor] = await accountWithGuest();
  const [to, back, all, file] = [word('to'), word('back'), word('all'), word('file')];
  await laptop.ok(['message', 'Visitor', to]);
  await visitor.ok(['message', 'Phone', back]);
  expect(await jsonOf(laptop, 'message', '*', all)).toMatchObject([
    {
      sealed: true,
      not_sent_to: [],
      to: expect.arrayContaining([expect.objectContaining({ name: 'Visitor', sealed: true })]),
    },
  ]);
  mkdirSync(join(laptop.folder, 'out'));
  writeFileSync(join(laptop.folder, 'out', `${file}.txt`), file);
  await laptop.ok(['send', 'out', '--to', 'Visitor', '--leave']);
  await visitor.ok(['send', '-', '--to', 'Laptop', '--leave', '--name', `${file}-back`], { input: `${file} back` });
  expect(await Promise.all([to, back, all, file].map(isStored))).toEqual([false, false, false, false]);

  expect(await jsonOf(visitor, 'inbox')).toMatchObject([
    { content: to, sealed: true, sender: { kind: 'cli' } },
    { content: all, sealed: true },
  ]);
  expect(await jsonOf(phone, 'inbox')).toMatchObject([
    { content: back, sealed: true, from_name: 'Visitor', sender: { kind: 'guest' } },
    { content: all, sealed: true },
  ]);
  await visitor.ok(['receive', '--yes', '--once', '--dir', 'in']);
  expect(readFileSync(join(visitor.folder, 'in', 'out', `${file}.txt`), 'utf8')).toBe(file);
  await laptop.ok(['receive', '--yes', '--once', '--dir', 'in']);
  expect(readFileSync(join(laptop.folder, 'in', `${file}-back`), 'utf8')).toBe(`${file} back`);
});

test('the encrypted clipboard is not for it, and it says so', async () => {
  const [laptop, phone, visitor] = await accountWithGuest();
  expect((await laptop.ok(['copy'], { input: 'for members' })).stderr).toContain('cannot read it: Visitor');
  expect((await visitor.ok(['paste'], { status: 5 })).stderr).toContain('a guest does not have it');
  expect((await visitor.ok(['copy'], { input: 'x', status: 1 })).stderr).toContain('a guest does not have it');
  expect((await phone.ok(['paste'])).stdout).toBe('for members');
});

test('a guest that was removed gets nothing sealed any more, and the key of the account stays', async () => {
  const [laptop, phone, visitor] = await accountWithGuest();
  await visitor.ok(['message', 'Phone', 'before']);
  expect((await laptop.ok(['remove', 'Visitor'])).stderr).not.toContain('was replaced');
  expect(await jsonOf(phone, 'keys')).toMatchObject([{ n: 3, epoch: 1, advice: null }]);
  expect(kindsIn(await jsonOf(phone, 'keys'))).toEqual({ Laptop: 'cli', Phone: 'cli' });
  expect(await jsonOf(phone, 'inbox')).toMatchObject([{ content: 'before', sealed: true }]);
  expect(await jsonOf(laptop, 'message', '*', 'after')).toMatchObject([{ sealed: true, to: [{ name: 'Phone' }] }]);
});

test('a guest that asks for keys anew stays a guest', async () => {
  const [laptop, , visitor] = await accountWithGuest();
  for (const name of ['keys.json', 'shown']) writeFileSync(join(visitor.config, name), '');
  await visitor.ok(['logout']).catch(() => undefined);
  const again = await guestOf(laptop, 'Again');
  const kept = JSON.parse(readFileSync(join(again.config, 'keys.json'), 'utf8')) as { account: unknown };
  writeFileSync(join(again.config, 'keys.json'), JSON.stringify({ ...kept, account: null, rings: [] }));
  expect((await laptop.ok(['message', 'Again', 'waits'])).stdout).toContain('kept until it comes');
  const [shown, taken] = await approve(laptop, again.run(['keys', 'link']));
  expect([shown, taken]).toEqual([expect.stringMatching(/^\d{4}$/), shown]);
  expect(kindsIn(await jsonOf(laptop, 'keys'))).toMatchObject({ Again: 'guest' });
  await laptop.ok(['message', 'Again', 'linked']);
  expect((await jsonOf(again, 'inbox')).at(-1)).toMatchObject({ content: 'linked', sealed: true });
});

test('an approval that was killed after the list was signed is carried out by the same command', async () => {
  const [laptop] = (await devicesWithKeys(cli, ['Laptop'])) as [Terminal];
  const visitor = cli.terminal();
  const asking = visitor.run(['login', cli.door.url, '--name', 'Visitor']);
  const [link] = await asking.says(/http:\/\/\S+\/link\?\S+/);
  const unheard = cli.door.keepAnswer('PUT /api/keys/guests');
  const killed = laptop.run(['approve', link, '--yes', '--once']);
  await unheard;
  killed.child.kill('SIGKILL');
  await killed.status;
  await laptop.ok(['approve', link, '--yes', '--once']);
  expect(await asking.status).toBe(0);
  expect(kindsIn(await jsonOf(laptop, 'keys'))).toEqual({ Laptop: 'cli', Visitor: 'guest' });
  await laptop.ok(['message', 'Visitor', 'hello']);
  expect(await jsonOf(visitor, 'inbox')).toMatchObject([{ content: 'hello', sealed: true }]);
});

test('two devices that let guests in at once both do', async () => {
  const [laptop, phone] = (await devicesWithKeys(cli, ['Laptop', 'Phone'])) as [Terminal, Terminal];
  await Promise.all([guestOf(laptop, 'One'), guestOf(phone, 'Two')]);
  expect(kindsIn(await jsonOf(laptop, 'keys'))).toEqual({ Laptop: 'cli', Phone: 'cli', One: 'guest', Two: 'guest' });
});

test('the guests of a device that is removed from the ring stay', async () => {
  const [laptop, phone] = (await devicesWithKeys(cli, ['Laptop', 'Phone'])) as [Terminal, Terminal];
  const visitor = await guestOf(phone, 'Visitor');
  await laptop.ok(['remove', 'Phone']);
  await laptop.ok(['message', 'Visitor', 'still here']);
  expect(await jsonOf(visitor, 'inbox')).toMatchObject([{ content: 'still here', sealed: true }]);
});
