import type { Redis } from 'ioredis';
import { LIMITS } from '../../../../shared/contract/limits.ts';
import { connectTo, sharedRedisUrl } from '../../../support/redis/redis.ts';
import { NOW } from '../../../support/redis/still-clock.ts';
import { jobOf, type Kind, makeAccount, registrationText } from './account.ts';

let redis: Redis;

beforeAll(() => {
  redis = connectTo(sharedRedisUrl());
});
afterAll(() => redis.disconnect());

const LEASE_MS = 30_000;
const MOST = LIMITS.pushCount;
const SILENCE = LIMITS.pushSilenceMs;
const NAMED = '{"from_name":"Laptop"';
const GONE = { text: null, at: null };

/** Makes an account in which a push is due for something that exists. */
async function makeDue(kind: Kind, at: number | null = NOW, text?: string) {
  const account = await makeAccount(redis);
  await account.subscribe();
  await account.job(jobOf(kind), at, text);
  if (kind === 'message') await account.message('m1', 500);
  if (kind === 'transfer') await account.offer('t1', 500);
  return account;
}

describe('a push is taken', () => {
  test('with all that is known of it, and no other replica takes it for a while', async () => {
    const account = await makeDue('message', NOW - 3, `m1\n${NOW - 500}\n4.2\n5`);
    expect(await account.take('message')).toMatchObject({
      ...{
        outcome: 'taken',
        registration: registrationText(),
        newest: 'm1',
        sinceMs: NOW - 500,
        attempts: 4,
        notHere: 2,
      },
      ...{ nowMs: NOW, dueAtMs: NOW - 3, count: 1, id: 'm1', message: '{"id":"m1"' },
    });
    expect(await account.stored(jobOf('message'))).toMatchObject({ at: LEASE_MS });
    expect((await account.take('message')).outcome).toBe('later');
  });

  test.each([
    ['when its time has come', NOW, 'taken'],
    ['not before its time', NOW + 1, 'later'],
    ['not without a time', null, 'later'],
  ])('%s', async (_, at, outcome) => {
    const account = await makeDue('message', at);
    expect((await account.take('message')).outcome).toBe(outcome);
    expect((await account.stored(jobOf('message'))).text).not.toBeNull();
  });

  test.each<[Kind, number, string, string]>([
    ['transfer', 1, 't1', NAMED],
    ['device', 1, 'm1', NAMED],
    ['test', 1, 'm1', NAMED],
  ])('with the name of who it is from: %s', async (kind, count, id, message) => {
    const account = await makeDue(kind);
    expect(await account.take(kind)).toMatchObject({ outcome: 'taken', count, id, message });
  });

  test('of a test without a name', async () => {
    const account = await makeAccount(redis);
    await account.subscribe();
    await account.job(jobOf('test', { peer: '' }));
    expect(await account.take('test', { peer: '' })).toMatchObject({
      outcome: 'taken',
      count: 1,
      id: 'm1',
      message: '',
    });
  });

  test('without a preview where the device asked for none', async () => {
    const account = await makeDue('message');
    await account.subscribe({ preview: 'none' });
    expect(await account.take('message')).toMatchObject({ outcome: 'taken', id: 'm1', message: '' });
  });
});

describe('a push is dropped', () => {
  test.each<[string, (account: Awaited<ReturnType<typeof makeAccount>>) => Promise<unknown>]>([
    ['lost', (account) => redis.hdel(account.keys.push, `j:${jobOf('message')}`)],
    ['unsubscribed', (account) => redis.hdel(account.keys.push, 'r:web:phone')],
    ['unsubscribed', (account) => redis.hdel(account.keys.devices, 'phone')],
    ['suspended', (account) => account.subscribe({ suspended: String(NOW - 599_999) })],
    ['settled', (account) => redis.del(account.keys.inbox)],
    ['settled', (account) => redis.hdel(account.keys.mail, 'm1')],
  ])('as %s', async (why, change) => {
    const account = await makeDue('message');
    await change(account);
    expect((await account.take('message')).outcome).toBe(why);
    expect(await account.stored(jobOf('message'))).toEqual(GONE);
  });

  test.each<[Kind, string]>([
    ['transfer', 'no offer of it waits any more'],
    ['device', 'the new device is gone'],
  ])('as settled: %s, when %s', async (kind) => {
    const account = await makeAccount(redis);
    await account.subscribe();
    await account.job(jobOf(kind));
    await redis.hdel(account.keys.devices, 'laptop');
    expect((await account.take(kind)).outcome).toBe('settled');
    expect(await account.stored(jobOf(kind))).toEqual(GONE);
  });
});

describe('a push while a stream of its device is open', () => {
  test.each<[Kind, number, string, number | null]>([
    ['message', SILENCE - 1, 'later', 1],
    ['message', SILENCE, 'taken', LEASE_MS],
    ['transfer', SILENCE - 1, 'later', 1],
    ['transfer', SILENCE, 'later', SILENCE],
    ['transfer', 60_000, 'later', 60_000],
    ['transfer', 3_600_000, 'later', 300_000],
    ['device', 0, 'taken', LEASE_MS],
    ['test', 0, 'taken', LEASE_MS],
  ])('for a %s of %d ms ago is %s', async (kind, ago, outcome, at) => {
    const account = await makeAccount(redis);
    await account.subscribe();
    await account.stream('phone');
    await account.job(jobOf(kind), NOW, `x1\n${NOW - ago}\n0\n0`);
    await account.message('x1', ago);
    await account.offer('x1', 3);
    expect((await account.take(kind)).outcome).toBe(outcome);
    expect((await account.stored(jobOf(kind))).at).toBe(at);
  });

  test.each<[Kind]>([['message'], ['transfer']])('is taken if the replica of the stream is dead: %s', async (kind) => {
    const account = await makeDue(kind);
    await account.stream('phone');
    expect((await account.take(kind, { dead: ['bus:a'] })).outcome).toBe('taken');
  });

  test('is taken if it is a stream of another device', async () => {
    const account = await makeDue('message');
    await account.stream('laptop');
    expect((await account.take('message')).outcome).toBe('taken');
  });

  test('waits for the oldest message of its peer', async () => {
    const account = await makeDue('message');
    await account.stream('phone');
    await account.message('m0', SILENCE - 7);
    await account.message('m9', SILENCE + 50, { sender: 'tablet' });
    expect((await account.take('message')).outcome).toBe('later');
    expect((await account.stored(jobOf('message'))).at).toBe(7);
  });
});

describe('a push for messages', () => {
  test('counts those of its peer, and shows the newest', async () => {
    const account = await makeDue('message');
    await account.message('m2', 400, { text: '{"text":"a\n\nb"' });
    await account.message('m3', 300, { sender: 'tablet' });
    await account.message('m4', 300, { sender: '' });
    await redis.zadd(account.keys.inbox, 0, `phone2:${NOW}-7:m1`, 0, `pad:${NOW}-7:m1`);
    expect(await account.take('message')).toMatchObject({ count: 2, id: 'm2', message: '{"text":"a\n\nb"' });
    await account.job(jobOf('message', { peer: '' }));
    expect(await account.take('message', { peer: '' })).toMatchObject({ count: 1, id: 'm4' });
  });

  test.each([
    [MOST - 1, MOST - 1],
    [MOST, MOST],
    [MOST + 1, MOST],
  ])('of %d counts at most %d', async (sent, count) => {
    const account = await makeDue('message');
    for (let i = 1; i < sent; i++) await account.message(`n${i}`, 400 - i);
    expect(await account.take('message')).toMatchObject({ count, id: `n${sent - 1}` });
  });

  test.each([
    ['finds the one that it is for behind those of others', MOST, 'm1', 'm1'],
    ['finds that one among older ones', MOST, 'm0', 'm0'],
    ['finds the newest of its peer when that one is gone', MOST, 'gone', 'm1'],
  ])('%s', async (_, others, latest, id) => {
    const account = await makeDue('message', NOW, `${latest}\n${NOW - 500}\n0\n0`);
    await account.message('m0', SILENCE - 7);
    for (let i = 0; i < others; i++) await account.message(`n${i}`, 400 - i, { sender: 'tablet' });
    expect(await account.take('message')).toMatchObject({ outcome: 'taken', count: 1, id, message: `{"id":"${id}"` });
  });

  test('shows the newest of its peer before the one that it is for', async () => {
    const account = await makeDue('message');
    for (let i = 0; i < MOST - 1; i++) await account.message(`n${i}`, 400 - i, { sender: 'tablet' });
    await account.message('m2', 5);
    expect(await account.take('message')).toMatchObject({ outcome: 'taken', count: 1, id: 'm2' });
  });

  test('waits for the one that it finds behind those of others', async () => {
    const account = await makeDue('message');
    await account.stream('phone');
    for (let i = 0; i < MOST; i++) await account.message(`n${i}`, 400 - i, { sender: 'tablet' });
    expect((await account.take('message')).outcome).toBe('later');
    expect((await account.stored(jobOf('message'))).at).toBe(SILENCE - 500);
  });

  test.each([[MOST - 1], [MOST], [MOST + 1]])('is settled when all of %d are of others', async (others) => {
    const account = await makeDue('message');
    await redis.del(account.keys.inbox);
    for (let i = 0; i < others; i++) await account.message(`n${i}`, 400 - i, { sender: 'tablet' });
    expect((await account.take('message')).outcome).toBe('settled');
  });
});

describe('a push for offers', () => {
  test('counts those of its peer that wait, and names the newest', async () => {
    const account = await makeDue('transfer');
    await account.offer('t2', 400);
    await account.offer('t3', 300, { isPending: false });
    await account.offer('t4', 200, { sender: 'tablet' });
    expect(await account.take('transfer')).toMatchObject({ outcome: 'taken', count: 2, id: 't2' });
  });

  test.each([
    [MOST, MOST],
    [MOST + 1, MOST],
  ])('of %d counts at most %d', async (offered, count) => {
    const account = await makeDue('transfer');
    for (let i = 1; i < offered; i++) await account.offer(`u${i}`, 400 - i);
    expect(await account.take('transfer')).toMatchObject({ count, id: `u${offered - 1}` });
  });

  test('is settled when only others wait', async () => {
    const account = await makeDue('transfer');
    await redis.del(account.keys.offers);
    await account.offer('t4', 200, { sender: 'tablet' });
    await account.offer('t3', 300, { isPending: false });
    expect((await account.take('transfer')).outcome).toBe('settled');
  });
});
