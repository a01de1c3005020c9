import type { Redis } from 'ioredis';
import { LIMITS } from '../../../../shared/contract/limits.ts';
import { expectLifetimes } from '../../../support/redis/lifetime.ts';
import { connectTo, sharedRedisUrl } from '../../../support/redis/redis.ts';
import { NOW } from '../../../support/redis/still-clock.ts';
import { makeAccount } from './account.ts';

let redis: Redis;

beforeAll(() => {
  redis = connectTo(sharedRedisUrl());
});
afterAll(() => redis.disconnect());

const MINUTE = Math.floor(NOW / 60_000);
const OLDEST_MS = 1_000 * LIMITS.mailboxSeconds;
type Account = Awaited<ReturnType<typeof makeAccount>>;

/** Puts a message of this many bytes from this many ms ago into mailboxes. */
async function keep(account: Account, id: string, ago: number, bytes: number, holders: string[]) {
  const logId = `${NOW - ago}-7`;
  await redis.hset(account.keys.mail, id, `${logId}\nlaptop\n${bytes}\n${holders.length}\n{"id":"${id}"`);
  await redis.zadd(account.keys.inbox, ...holders.flatMap((device) => [0, `${device}:${logId}:${id}`]));
}
const stored = (account: Account) => redis.hgetall(account.keys.mail);

describe('a message to several devices', () => {
  test('is kept once, until the last of them has acknowledged it', async () => {
    const account = await makeAccount(redis);
    await account.devices({ tablet: 'Tablet', watch: 'Watch' });
    await account.send({ wanted: '*' });
    expect(await stored(account)).toMatchObject({ bytes: '7' });
    expect(await account.inbox()).toHaveLength(3);
    const { open } = await account.page();
    for (const device of ['phone', 'watch']) {
      expect(await account.ack(['m1'], device)()).toMatchObject({ acked: 1 });
      expect(await account.page('', '', device)).toMatchObject({ open: [] });
    }
    expect(await account.page('', '', 'tablet')).toMatchObject({ open });
    expect(await stored(account)).toMatchObject({ bytes: '7' });
    expect(await account.ack(['m1'], 'tablet')()).toMatchObject({ acked: 1 });
    expect(await stored(account)).toEqual({ bytes: '0', purged: String(MINUTE) });
    expect(await account.inbox()).toEqual([]);
  });

  test('is found by each of them among the messages of the others', async () => {
    const account = await makeAccount(redis);
    await account.devices({ tablet: 'Tablet' });
    await redis.zadd(account.keys.inbox, 0, `zebra:${NOW - 5}-7:m0`, 0, `pad:${NOW - 5}-7:m0`);
    await account.send({ wanted: '*' });
    for (const device of ['phone', 'tablet']) expect((await account.page('', '', device)).open).toHaveLength(1);
  });
});

describe('an acknowledgement', () => {
  test('of several messages frees the bytes of all of them', async () => {
    const account = await makeAccount(redis);
    await account.send();
    await account.send({ messageId: 'm2', bytes: 30 });
    await account.send({ messageId: 'm3', bytes: 500 });
    expect(await account.ack(['m1', 'm2'])()).toMatchObject({ acked: 2 });
    expect(Object.keys(await stored(account)).toSorted()).toEqual(['bytes', 'm3', 'purged']);
    expect(await stored(account)).toMatchObject({ bytes: '500' });
    expect(await account.inbox()).toHaveLength(1);
  });

  test.each([
    ['with the same message twice counts it once', ['m1', 'm1'], 'phone', 1, '30'],
    ['of a message that is not there counts nothing', ['m9'], 'phone', 0, '37'],
    ['of a message for another device counts nothing', ['m1'], 'tablet', 0, '37'],
    ['of no message counts nothing', [], 'phone', 0, '37'],
  ])('%s', async (_, ids, device, acked, bytes) => {
    const account = await makeAccount(redis);
    await account.devices({ tablet: 'Tablet' });
    await account.send();
    await account.send({ messageId: 'm2', bytes: 30 });
    expect(await account.ack(ids, device)()).toMatchObject({ acked });
    expect(await stored(account)).toMatchObject({ bytes });
  });
});

describe('a message that has been there for too long', () => {
  test('is removed from its mailbox alone, and frees its bytes with its last holder', async () => {
    const account = await makeAccount(redis);
    await account.devices({ tablet: 'Tablet' });
    await keep(account, 'm1', OLDEST_MS + 1, 7, ['phone']);
    await keep(account, 'm2', OLDEST_MS + 1, 20, ['phone', 'tablet']);
    await keep(account, 'm3', OLDEST_MS, 3, ['phone']);
    await redis.hset(account.keys.mail, 'bytes', 30);
    expect(await account.page()).toMatchObject({ open: ['{"id":"m3"'] });
    expect(await stored(account)).toMatchObject({ bytes: '23' });
    expect(await account.page('', '', 'tablet')).toMatchObject({ open: [] });
    expect(await stored(account)).toEqual({ m3: expect.any(String), bytes: '3' });
    expect(await account.inbox()).toHaveLength(1);
  });

  test('is removed alone too', async () => {
    const account = await makeAccount(redis);
    await keep(account, 'm1', OLDEST_MS + 1, 7, ['phone']);
    await redis.hset(account.keys.mail, 'bytes', 7);
    await account.page();
    expect(await stored(account)).toEqual({ bytes: '0' });
    expect(await account.inbox()).toEqual([]);
  });

  test('is removed where its text is gone', async () => {
    const account = await makeAccount(redis);
    await account.fill('phone', 2, NOW - OLDEST_MS - 1);
    await keep(account, 'm1', 10, 7, ['phone']);
    await account.page();
    expect(await account.inbox()).toEqual([`phone:${NOW - 10}-7:m1`]);
  });
});

describe('a device that never comes back', () => {
  /** Makes a full account, with a message that has been there for too long, and one that has not. */
  async function makeFull(purged: number) {
    const account = await makeAccount(redis);
    await account.devices({ lost: 'Lost' });
    await keep(account, 'm8', OLDEST_MS + 1, 10, ['lost']);
    await keep(account, 'm9', 5, LIMITS.mailboxBytes - 10, ['lost']);
    await redis.hset(account.keys.mail, 'bytes', LIMITS.mailboxBytes, 'purged', purged);
    return account;
  }

  test('keeps the account full for a minute at most', async () => {
    const account = await makeFull(MINUTE - 1);
    expect(await account.send()).toMatchObject({ messageId: 'm1' });
    expect(await stored(account)).toMatchObject({ bytes: String(LIMITS.mailboxBytes - 3), purged: String(MINUTE) });
    expect(await account.inbox()).toEqual([`lost:${NOW - 5}-7:m9`, expect.stringMatching(/^phone:/)]);
  });

  test('is looked at once a minute', async () => {
    const account = await makeFull(MINUTE);
    await expect(account.send()).rejects.toMatchObject({ code: 'mailbox_full' });
    expect(await account.inbox()).toHaveLength(2);
  });

  test('frees even a single byte', async () => {
    const account = await makeAccount(redis);
    await keep(account, 'm9', OLDEST_MS + 1, 1, ['phone']);
    await redis.hset(account.keys.mail, 'bytes', 1);
    await account.send();
    expect(await stored(account)).toMatchObject({ bytes: '7' });
  });
});

describe('the limit of messages in a mailbox', () => {
  test('holds for the only mailbox of the account', async () => {
    const account = await makeAccount(redis);
    await redis.hset(account.keys.mail, 'bytes', 1, 'purged', MINUTE);
    await account.fill('phone', LIMITS.mailboxMessages);
    await expect(account.send()).rejects.toMatchObject({ code: 'mailbox_full' });
  });

  test('does not hold where no mailbox has a byte, because the texts were lost', async () => {
    const account = await makeAccount(redis);
    await account.fill('phone', LIMITS.mailboxMessages);
    expect(await account.send()).toMatchObject({ messageId: 'm1' });
  });
});

describe('a mailbox lives as long as its newest message, and the minute in which that is not written', () => {
  const SECONDS = LIMITS.mailboxSeconds + 60;

  test.each([
    ['from its first message', null],
    ['from the first message of a minute', { bytes: 7, purged: MINUTE - 1 }],
  ])('%s', async (_, mail) => {
    const account = await makeAccount(redis);
    if (mail !== null) {
      await keep(account, 'm0', 70_000, 7, ['phone']);
      await redis.hset(account.keys.mail, mail);
    }
    await expectLifetimes(redis, account.send, { [account.keys.mail]: SECONDS, [account.keys.inbox]: SECONDS });
  });

  test('also when it was emptied in this minute', async () => {
    const account = await makeAccount(redis);
    await account.send();
    await account.ack(['m1'])();
    await expectLifetimes(redis, () => account.send({ messageId: 'm2' }), { [account.keys.inbox]: SECONDS });
  });
});
