import type { Redis } from 'ioredis';
import { LIMITS } from '../../../../shared/contract/limits.ts';
import { expectLifetimes } from '../../../support/redis/lifetime.ts';
import { connectTo, sharedRedisUrl } from '../../../support/redis/redis.ts';
import { NOW } from '../../../support/redis/still-clock.ts';
import { fieldsOf, makeAccount } from './account.ts';

let redis: Redis;

beforeAll(() => {
  redis = connectTo(sharedRedisUrl());
});
afterAll(() => redis.disconnect());

type Account = Awaited<ReturnType<typeof makeAccount>>;
const DATA = '{"from_device_id":"laptop","from_name":"Laptop","transfer_id":null,"kind":"offer","payload":"x"}';

/** Sends a signal whose event has this many bytes of data. */
const sendBytes = (account: Account, bytes: number) =>
  account.send({ payload: `"${'x'.repeat(bytes - DATA.length + 1)}"` });
const idsOf = async (account: Account) => (await account.logged()).map(([id]) => id);

describe('an entry of the log', () => {
  test('has the event, its addressee and its data, and is announced with its position', async () => {
    const account = await makeAccount(redis);
    await account.route('s1');
    const { announced } = await account.send();
    const [[id, entry] = ['', []]] = await account.logged();
    expect(id).toMatch(new RegExp(`^${NOW}-\\d+$`));
    expect(fieldsOf(entry)).toEqual({ p: '', e: 'signal', t: 'phone', d: DATA, s: String(DATA.length) });
    const fields = ['e', account.name, id, '', 'signal', 'phone', NOW, DATA];
    expect(announced).toEqual([{ channel: 'bus:a', label: 'signal', payload: fields.join('\n') }]);
  });

  test.each([
    ['at the time of the store', -1, 0],
    ['a millisecond after the last entry, if that is of this time', 0, 1],
    ['a millisecond after the last entry, if that is of a later time', 5, 6],
  ])('has a position %s', async (_, last, at) => {
    const account = await makeAccount(redis);
    await account.entry(`${NOW + last}-4294967295`, { s: '100' });
    const { announced } = await account.send();
    expect(announced).toEqual([]);
    const [, [id, entry] = ['', []]] = await account.logged();
    expect(id).toMatch(new RegExp(`^${NOW + at}-`));
    expect(fieldsOf(entry)).toMatchObject({ p: `${NOW + last}-4294967295`, s: String(100 + DATA.length) });
  });

  test('counts the bytes of the log from now on, if the last one is of an earlier version', async () => {
    const account = await makeAccount(redis);
    await account.entry(`${NOW - 1}-1`, { s: null });
    await account.send();
    const [, [, entry] = ['', []]] = await account.logged();
    expect(fieldsOf(entry)).toMatchObject({ s: String(DATA.length) });
  });
});

describe('a log that has too many bytes', () => {
  /** Makes a log of two entries of ten bytes, and a long one that brings it to this many bytes in all. */
  async function makeLog(bytes: number, next: number) {
    const account = await makeAccount(redis);
    const data = 'x'.repeat(10);
    await account.entry(`${NOW - 9}-1`, { data, s: '1000' });
    await account.entry(`${NOW - 8}-1`, { data, s: '1010' });
    await account.entry(`${NOW - 7}-1`, { s: String(990 + bytes - next) });
    await sendBytes(account, next);
    return idsOf(account);
  }

  test.each([
    ['keeps all of them up to its limit', 0, 4],
    ['loses its oldest entry a byte above that', 1, 3],
    ['loses one more when that is not enough', 11, 2],
  ])('%s', async (_, over, count) => {
    const ids = await makeLog(LIMITS.logBytes + over, 20_000);
    expect(ids).toHaveLength(count);
    expect(ids.at(-2)).toBe(`${NOW - 7}-1`);
  });

  test.each([
    ['is not shortened for a short entry', 1_000, 4],
    ['is shortened for one of more than a KB', 1_025, 3],
  ])('%s', async (_, next, count) => {
    expect(await makeLog(LIMITS.logBytes + 1, next)).toHaveLength(count);
  });

  test('keeps an entry of an earlier version, which does not count its bytes', async () => {
    const account = await makeAccount(redis);
    await account.entry(`${NOW - 9}-1`, { data: 'x'.repeat(10), s: null });
    await account.entry(`${NOW - 8}-1`, { s: String(LIMITS.logBytes) });
    await sendBytes(account, 2_000);
    expect(await idsOf(account)).toHaveLength(3);
  });

  test('keeps its only entry', async () => {
    const account = await makeAccount(redis);
    await sendBytes(account, 20_000);
    expect(await idsOf(account)).toHaveLength(1);
  });
});

describe('a log lives for a day after its last entry, and the minute in which that is not written', () => {
  const SECONDS = LIMITS.logSeconds + 60;

  test('from its first entry', async () => {
    const account = await makeAccount(redis);
    await expectLifetimes(redis, account.send, { [account.keys.log]: SECONDS });
  });

  test.each([
    ['from the first entry of a minute', -1, true],
    ['not from another of that minute', 0, false],
  ])('%s', async (_, last, isRenewed) => {
    const account = await makeAccount(redis);
    await account.entry(`${NOW + last}-1`);
    await redis.expire(account.keys.log, 1_000);
    if (isRenewed) return expectLifetimes(redis, account.send, { [account.keys.log]: SECONDS });
    await account.send();
    expect(await redis.ttl(account.keys.log)).toBeLessThanOrEqual(1_000);
  });
});
