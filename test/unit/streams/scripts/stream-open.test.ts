import type { Redis } from 'ioredis';
import { LIMITS } from '../../../../shared/contract/limits.ts';
import { connectTo, sharedRedisUrl } from '../../../support/redis/redis.ts';
import { NOW } from '../../../support/redis/still-clock.ts';
import { LIVENESS, makeAccount, routeText } from './account.ts';

let redis: Redis;

beforeAll(() => {
  redis = connectTo(sharedRedisUrl());
});
afterAll(() => redis.disconnect());

/** Returns an account with a device that is known to be online. */
async function onlineAccount() {
  const account = makeAccount(redis);
  await account.devices('phone');
  await account.presence({ v: NOW - 50, phone: `1${NOW - 50}` });
  return account;
}

describe('a stream that opens', () => {
  test('is told everything of an account in which nothing has happened', async () => {
    const account = makeAccount(redis);
    await account.devices('phone');
    const reply = await account.open();
    expect(reply).toMatchObject({
      ...{ outcome: 'attached', presenceVersion: NOW, devices: ['phone', 'Name of phone\n'] },
      ...{ states: ['phone', `1${NOW}`, 'v', String(NOW)], transitions: { online: 1, offline: 0 } },
      ...{ orphanInMs: 0, dropped: 0, lostReason: 'new', entries: [], ended: true },
      ...{ clipboard: '', pendingMessages: 0, pendingTransfers: 0, hasInvites: false, announced: [] },
    });
    expect(await account.storedRoutes()).toEqual({ s1: routeText({}) });
    const { top } = reply as unknown as { top: string };
    expect(await redis.xrange(account.keys.log, '-', '+')).toEqual([
      [top, ['p', '', 'e', '', 't', '', 'd', '', 's', '0']],
    ]);
    // The log lives a minute longer than clients may rely on.
    expect(await redis.ttl(account.keys.log)).toBeGreaterThan(LIMITS.logSeconds);
  });

  test('gets no second route when the call comes again, and none that is older', async () => {
    const account = makeAccount(redis);
    await account.routes({ s1: { attachNumber: 10, opened: 5_000 } });
    expect(await account.open({ attachNumber: 10 })).toMatchObject({ outcome: 'attached' });
    expect(await account.storedRoutes()).toEqual({ s1: routeText({ attachNumber: 10, opened: 5_000 }) });
    expect(await account.open({ attachNumber: 9 })).toEqual({ outcome: 'old', announced: [] });
  });

  test('is refused when it was closed meanwhile, and writes nothing', async () => {
    const account = makeAccount(redis);
    await account.routes({ s1: { closed: 10 } });
    expect(await account.open()).toEqual({ outcome: 'gone', announced: [] });
    expect(await redis.exists(account.keys.log, account.keys.presence)).toBe(0);
  });

  test('closes the routes to its replica that lead to no stream', async () => {
    const account = makeAccount(redis);
    await account.routes({ lost: { seen: 10_001 }, young: { seen: 9_000 } });
    expect(await account.open()).toMatchObject({ dropped: 1, orphanInMs: 1_001 });
    expect(Object.keys(await account.storedRoutes()).toSorted()).toEqual(['s1', 'young']);
  });
});

describe('the log of a stream that opens', () => {
  test('has nothing new at its end', async () => {
    const account = makeAccount(redis);
    await account.entry(`${NOW - 2}-7`);
    await account.entry(`${NOW - 1}-7`, { prev: `${NOW - 2}-7` });
    const position = `${NOW - 1}-7`;
    expect(await account.open({ position })).toMatchObject({
      lostReason: null,
      top: position,
      entries: [],
      ended: true,
    });
    expect(await redis.xlen(account.keys.log)).toBe(2);
    expect(await redis.ttl(account.keys.log)).toBeGreaterThan(LIMITS.logSeconds);
  });

  test('goes on from the position', async () => {
    const account = makeAccount(redis);
    for (const i of [3, 2, 1]) await account.entry(`${NOW - i}-7`, { event: 'clipboard', data: `{"n":${i}}` });
    expect(await account.open({ position: `${NOW - 3}-7` })).toMatchObject({
      ...{ lostReason: null, top: `${NOW - 1}-7`, ended: true },
      entries: [
        { id: `${NOW - 2}-7`, name: 'clipboard', data: '{"n":2}' },
        { id: `${NOW - 1}-7`, name: 'clipboard', data: '{"n":1}' },
      ],
    });
  });

  test.each([
    ['without a position', '', 'new'],
    ['from an unknown position', `${NOW - 1}-8`, 'gap'],
  ])('is not read %s', async (_, position, lostReason) => {
    const account = makeAccount(redis);
    for (const i of [3, 1]) await account.entry(`${NOW - i}-7`);
    expect(await account.open({ position })).toMatchObject({
      lostReason,
      top: `${NOW - 1}-7`,
      entries: [],
      ended: true,
    });
  });

  test('that was lost is lost although nothing is there, and begins again', async () => {
    const account = makeAccount(redis);
    expect(await account.open({ position: `${NOW - 1}-7` })).toMatchObject({ lostReason: 'store_lost', ended: true });
    expect(await redis.xlen(account.keys.log)).toBe(1);
  });
});

describe('what waits for a device whose stream opens', () => {
  test('is one message, not those of others or those whose time is over', async () => {
    const account = makeAccount(redis);
    const members = [`phone:${NOW - 5}-1:m1`, `phonf:${NOW - 5}-1:m1`, `phon:${NOW - 5}-1:m1`];
    await redis.zadd(account.keys.inbox, ...members.flatMap((member) => ['0', member]));
    expect(await account.open()).toMatchObject({ pendingMessages: 1, pendingTransfers: 0, hasInvites: false });
  });

  test.each([
    ['the only message is gone', [], 0],
    ['the others are left', [`phone:${NOW - 5}-1:m1`, `phone:${NOW - 4}-1:m2`], 2],
  ])('is none that has been in the mailbox for too long: %s', async (_, others, pendingMessages) => {
    const account = makeAccount(redis);
    const over = `phone:${NOW - 1_000 * LIMITS.mailboxSeconds - 1}-1:m0`;
    await redis.zadd(account.keys.inbox, ...[over, ...others].flatMap((member) => ['0', member]));
    expect(await account.open()).toMatchObject({ pendingMessages });
    expect(await redis.zrange(account.keys.inbox, '0', '-1')).toEqual(others);
  });

  test('are the offers that it has not accepted', async () => {
    const account = makeAccount(redis);
    await redis.zadd(account.keys.offers, 0, 'phone pending 1-1:t1', 0, 'phone all 1-t1', 0, 'tablet pending 1-1:t1');
    expect(await account.open()).toMatchObject({ pendingMessages: 0, pendingTransfers: 1, hasInvites: false });
  });

  test('are the times of the clipboard, without its text', async () => {
    const account = makeAccount(redis);
    await redis.set(account.keys.clipboard, `${NOW}\n${NOW + 1}\n${'text'.repeat(50)}`);
    expect(await account.open()).toMatchObject({
      ...{ clipboard: `${NOW}\n${NOW + 1}\ntext`, pendingMessages: 0, hasInvites: false },
    });
  });

  test('are the decisions on new devices', async () => {
    const account = makeAccount(redis);
    await redis.hset(account.keys.invites, 'i1', 'x');
    expect(await account.open()).toMatchObject({ hasInvites: true, pendingMessages: 0, pendingTransfers: 0 });
  });
});

describe('a connect is announced', () => {
  test('to the other stream although its device was online, because one may wait for it', async () => {
    const account = await onlineAccount();
    await account.routes({ s2: { channel: 'bus:two' } });
    const { announced, ...reply } = await account.open();
    expect(reply).toMatchObject({ presenceVersion: NOW, transitions: { online: 0, offline: 0 } });
    expect(announced.map(({ channel, label }) => `${channel} ${label}`)).toEqual(['bus:two presence']);
  });

  test('not where no other stream could hear it', async () => {
    const account = await onlineAccount();
    expect(await account.open()).toMatchObject({ presenceVersion: NOW - 50, announced: [] });
  });

  test('not for a device without a row', async () => {
    const account = await onlineAccount();
    await account.routes({ s2: {} });
    const liveness = { ...LIVENESS, held: ['s1', 's2'] };
    expect(await account.open({ device: 'removed', liveness })).toMatchObject({
      ...{ presenceVersion: NOW - 50, announced: [] },
    });
  });

  test('on the own channel once when another stream of the replica is there', async () => {
    const account = await onlineAccount();
    await account.routes({ s2: {}, s3: { device: '~Laptop' } });
    const { announced } = await account.open({ liveness: { ...LIVENESS, held: ['s1', 's2', 's3'] } });
    expect(announced.map(({ channel, label }) => `${channel} ${label}`)).toEqual(['bus:own presence']);
  });
});

describe('a stream without a device', () => {
  const LAPTOP = { channel: 'bus:two', device: '~Laptop' };

  test.each([
    ['a name that nobody has', '~Desktop', true],
    ['a name that other streams have: it is one of them', '~Laptop', true],
    ['a name that looks like that of other streams', '~LAPTOP', false],
    ['the name of a device', '~Name of phone', false],
    ['a name that looks like that of a device', '~name  of PHONE', false],
    ['a name that begins like that of a device', '~Name of phon', true],
    ['a name that ends like that of a device', '~ame of phone', true],
  ])('may open with %s', async (_, device, isFree) => {
    const account = makeAccount(redis);
    await account.devices('tablet', 'phone');
    await account.routes({ s2: LAPTOP, s3: { ...LAPTOP, device: 'tablet' }, s4: LAPTOP });
    const opened = account.open({ device });
    if (isFree) expect(await opened).toMatchObject({ outcome: 'attached' });
    else await expect(opened).rejects.toMatchObject({ code: 'name_taken' });
    expect(Object.keys(await account.storedRoutes()).includes('s1')).toBe(isFree);
  });

  test('may open with the name of a stream that has ended', async () => {
    const account = makeAccount(redis);
    await account.routes({ s2: { ...LAPTOP, closed: 10 } });
    expect(await account.open({ device: '~LAPTOP' })).toMatchObject({ outcome: 'attached' });
  });

  test('is present by its name', async () => {
    const account = makeAccount(redis);
    const { states } = (await account.open({ device: '~Laptop' })) as unknown as { states: string[] };
    expect(states).toEqual(['~Laptop', `1${NOW}`, 'v', String(NOW)]);
  });

  test('has no part in the ids of devices, which may look like names', async () => {
    const account = makeAccount(redis);
    await redis.hset(account.keys.devices, 'tablet', 'hone\n');
    expect(await account.open({ device: 'phone' })).toMatchObject({ outcome: 'attached' });
  });
});
