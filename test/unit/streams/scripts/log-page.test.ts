import type { Redis } from 'ioredis';
import { LIMITS } from '../../../../shared/contract/limits.ts';
import { connectTo, sharedRedisUrl } from '../../../support/redis/redis.ts';
import { NOW } from '../../../support/redis/still-clock.ts';
import { makeAccount } from './account.ts';

let redis: Redis;

beforeAll(() => {
  redis = connectTo(sharedRedisUrl());
});
afterAll(() => redis.disconnect());

const PAGE_BYTES = 256 * 1024;
const LOG_MS = 1_000 * LIMITS.logSeconds;
/** Returns the id of an entry from this many ms ago. */
const ago = (ms: number, random = 7) => `${NOW - ms}-${random}`;

type Account = ReturnType<typeof makeAccount>;

/** Returns an account whose log has these entries after the position `ago(100)`, the oldest first. */
async function accountWith(...entries: { event?: string; to?: string; data?: string }[]): Promise<Account> {
  const account = makeAccount(redis);
  await Promise.all([
    account.entry(ago(100), { to: '' }),
    ...entries.map((entry, i) => account.entry(ago(99 - i), { prev: ago(100 - i), event: 'clipboard', ...entry })),
  ]);
  return account;
}

/** Returns the names of the events that the device gets, '' for an entry that is not for it. */
async function namesFor(account: Account, device: string): Promise<string[]> {
  const { entries } = await account.page(ago(100), device);
  return entries.map(({ name }) => name);
}

describe('a position', () => {
  test('is none in the beginning', async () => {
    const account = await accountWith({});
    const told = { lostReason: 'new', top: ago(99), entries: [], ended: true, announced: [] };
    expect(await account.page('')).toEqual(told);
  });

  test.each([
    [ago(100), [ago(99), ago(98)]],
    [ago(99), [ago(98)]],
    [ago(98), []],
  ])('is valid where an entry is: %s', async (position, ids) => {
    const account = await accountWith({ data: '{}' }, { data: '{}' });
    const { entries, ...told } = await account.page(position);
    expect(told).toEqual({ lostReason: null, top: ago(98), ended: true, announced: [] });
    expect(entries).toEqual(ids.map((id) => ({ id, name: 'clipboard', data: '{}' })));
  });

  test('is valid just before the oldest entry, because nothing between the two was missed', async () => {
    const account = makeAccount(redis);
    await account.entry(ago(50), { prev: ago(60), event: 'clipboard' });
    const entries = [{ id: ago(50), name: 'clipboard', data: '{}' }];
    expect(await account.page(ago(60))).toMatchObject({ lostReason: null, entries });
  });

  test.each([
    ['an entry was before the oldest one, and the position before that', ago(61), 'expired'],
    ['the position is from the time of the log, and no entry of it', ago(49), 'gap'],
    ['the position has the time of the oldest entry, and is another', ago(50, 8), 'gap'],
    ['the position is after the end of the log', ago(1), 'gap'],
  ])('is lost where %s', async (_, position, reason) => {
    const account = makeAccount(redis);
    await account.entry(ago(50), { prev: ago(60) });
    await account.entry(ago(40), { prev: ago(50) });
    expect(await account.page(position)).toMatchObject({ lostReason: reason, top: ago(40), entries: [], ended: true });
  });

  test.each([
    ['as long as the log lasts', LOG_MS, 'store_lost'],
    ['longer than the log lasts', LOG_MS + 1, 'expired'],
  ])('of a log that began anew, or is gone, was lost by the store up to an age %s', async (_, age, reason) => {
    const account = makeAccount(redis);
    expect(await account.page(ago(age))).toMatchObject({ lostReason: reason, top: '', ended: true });
    await account.entry(ago(50), { to: '' });
    expect(await account.page(ago(age))).toMatchObject({ lostReason: reason, top: ago(50), ended: true });
  });

  test('is valid among as many entries as the log keeps, and expired before them', async () => {
    const account = await accountWith(...Array.from({ length: LIMITS.logEvents + 1 }, () => ({})));
    expect(await account.page(ago(98))).toMatchObject({ lostReason: null });
    expect(await redis.xlen(account.keys.log)).toBe(LIMITS.logEvents);
    expect(await account.page(ago(100))).toMatchObject({ lostReason: 'expired', top: ago(99 - LIMITS.logEvents) });
  });
});

describe('an entry is for', () => {
  test.each([
    ['everybody', '*', 'phone', true],
    ['nobody', '', 'phone', false],
    ['everybody but one', '!tablet', 'phone', true],
    ['everybody but one: it is that one', '!phone', 'phone', false],
    ['everybody but one with a similar id', '!phone2', 'phone', true],
    ['one', 'phone', 'phone', true],
    ['one with a similar id', 'phone2', 'phone', false],
    ['the first of several', 'phone\ttablet', 'phone', true],
    ['the last of several', 'tablet\tphone', 'phone', true],
    ['others', 'tablet\twatch', 'phone', false],
    ['a name with signs', '~My (old) P-C %d.', '~My (old) P-C %d.', true],
    ['a name that a pattern would match', '~Abc', '~A.c', false],
  ])('%s: %j', async (_, to, device, isFor) => {
    const account = await accountWith({ to, data: '{"n":1}' });
    const found = isFor ? { name: 'clipboard', data: '{"n":1}' } : { name: '', data: '' };
    expect((await account.page(ago(100), device)).entries).toEqual([{ id: ago(99), ...found }]);
  });
});

describe('a message in the log', () => {
  const MEMBER = `phone:${ago(99)}:m1`;
  const stored = `${ago(99)}\nlaptop\n7\n1\n{"message_id":"m1","content":"a\\nb"`;

  test('comes with its text from the mailbox', async () => {
    const account = await accountWith({ event: 'message', data: 'm1', to: 'phone' });
    await redis.zadd(account.keys.inbox, 0, MEMBER);
    await redis.hset(account.keys.mail, 'm1', stored);
    expect((await account.page(ago(100))).entries).toEqual([
      { id: ago(99), name: 'message', data: '{"message_id":"m1","content":"a\\nb","redelivered":false}' },
    ]);
  });

  test.each([
    ['it was acknowledged', `tablet:${ago(99)}:m1`, 'm1'],
    ['its text is gone', MEMBER, 'm2'],
  ])('does not come when %s', async (_, member, id) => {
    const account = await accountWith({ event: 'message', data: 'm1' });
    await redis.zadd(account.keys.inbox, 0, member);
    await redis.hset(account.keys.mail, id, stored);
    expect((await account.page(ago(100))).entries).toEqual([{ id: ago(99), name: '', data: '' }]);
  });

  test('comes as it is logged when no mailbox holds it', async () => {
    const account = await accountWith({ event: 'message', data: '{"message_id":"m1"}' });
    expect((await account.page(ago(100))).entries).toEqual([
      { id: ago(99), name: 'message', data: '{"message_id":"m1"}' },
    ]);
  });

  test('is the only event whose text is in the mailbox', async () => {
    const account = await accountWith({ event: 'clipboard', data: 'm1' });
    expect((await account.page(ago(100))).entries).toEqual([{ id: ago(99), name: 'clipboard', data: 'm1' }]);
  });
});

test('a signal is replayed only until its peer has given up waiting, unlike all else', async () => {
  const account = makeAccount(redis);
  const limit = 1_000 * LIMITS.signalSeconds;
  await account.entry(ago(limit + 3), { to: '' });
  await account.entry(ago(limit + 2), { event: 'clipboard' });
  await account.entry(ago(limit + 1), { event: 'signal' });
  await account.entry(ago(limit), { event: 'signal' });
  const { entries } = await account.page(ago(limit + 3));
  expect(entries.map(({ name }) => name)).toEqual(['clipboard', '', 'signal']);
});

describe('a page', () => {
  test.each([[31], [32], [33], [64], [90]])('has all of %d entries, each once, in order', async (count) => {
    const sent = Array.from({ length: count }, (_, i) => ({ event: `e${i}` }));
    const account = await accountWith(...sent);
    expect(await namesFor(account, 'phone')).toEqual(sent.map(({ event }) => event));
    expect(await account.page(ago(100))).toMatchObject({ ended: true });
  });

  test.each([
    ['ends with the entry that fills it', PAGE_BYTES, false, 2],
    ['goes on while a byte is left', PAGE_BYTES - 1, true, 3],
  ])('%s', async (_, bytes, ended, count) => {
    const account = await accountWith({ data: 'x'.repeat(1_000) }, { data: 'x'.repeat(bytes - 1_000) }, { data: '' });
    const page = await account.page(ago(100));
    expect({ ended: page.ended, count: page.entries.length }).toEqual({ ended, count });
  });

  test('is not filled by what is for others', async () => {
    const account = await accountWith({ data: 'x'.repeat(PAGE_BYTES), to: 'tablet' }, { data: '{}' });
    expect(await namesFor(account, 'phone')).toEqual(['', 'clipboard']);
  });
});
