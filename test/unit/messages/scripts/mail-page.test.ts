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

const PAGE_BYTES = 32 * 1024;
type Account = Awaited<ReturnType<typeof makeAccount>>;

/** Puts a message from this many ms ago into the phone's mailbox. Returns its member. */
async function keep(account: Account, id: string, ago: number, { text = id, isLogged = false } = {}): Promise<string> {
  const logId = `${NOW - ago}-7`;
  const member = `phone:${logId}:${id}`;
  await redis.zadd(account.keys.inbox, 0, member);
  await redis.hset(account.keys.mail, id, `${logId}\nlaptop\n7\n1\n${text}`);
  if (isLogged) await redis.xadd(account.keys.log, logId, 'p', '', 'e', 'message', 't', 'phone', 'd', id, 's', '0');
  return member;
}

test('a mailbox is read from its oldest message, and only by its device', async () => {
  const account = await makeAccount(redis);
  await redis.zadd(account.keys.inbox, 0, `phon:${NOW}-7:m9`, 0, `phone2:${NOW}-7:m9`, 0, `tablet:${NOW}-7:m9`);
  for (const [id, ago] of Object.entries({ m1: 30, m2: 20, m3: 10 }))
    await keep(account, id, ago, { text: `{"${id}"\n` });
  expect(await account.page()).toEqual({ next: '', open: ['{"m1"\n', '{"m2"\n', '{"m3"\n'], announced: [] });
  expect(await account.page(`phone:${NOW - 30}-7:m1`)).toMatchObject({ open: ['{"m2"\n', '{"m3"\n'] });
});

test('a device without a row is refused', async () => {
  const account = await makeAccount(redis);
  await expect(account.page('', '', 'removed')).rejects.toMatchObject({ code: 'device_required' });
});

test.each([
  [0, ['m1', 'm2']],
  [1, ['m2']],
])('what has been there for too long is gone: %d ms', async (over, left) => {
  const account = await makeAccount(redis);
  await keep(account, 'm1', 1_000 * LIMITS.mailboxSeconds + over);
  await keep(account, 'm2', 10);
  expect(await account.page()).toMatchObject({ open: left });
  expect(await account.inbox()).toHaveLength(left.length);
});

test('a message without a text is left out', async () => {
  const account = await makeAccount(redis);
  await account.fill('phone', 3);
  await keep(account, 'm1', 0);
  expect(await account.page()).toMatchObject({ next: '', open: ['m1'] });
});

describe('a stream does not get from the mailbox what it gets from the log', () => {
  test.each([
    ['before its position', 51, true, ['m1']],
    ['at its position', 50, true, ['m1']],
    ['after its position', 49, true, []],
    ['after its position, but the log has lost it', 49, false, ['m1']],
  ])('%s', async (_, ago, isLogged, open) => {
    const account = await makeAccount(redis);
    await keep(account, 'm1', ago, { isLogged });
    expect(await account.page('', `${NOW - 50}-7`)).toMatchObject({ open });
    expect(await account.page('', '')).toMatchObject({ open: ['m1'] });
  });
});

describe('a page', () => {
  test.each([[31], [32], [33], [64], [80]])('has all of %d messages', async (count) => {
    const account = await makeAccount(redis);
    const ids = Array.from({ length: count }, (_, i) => `m${i}`);
    await Promise.all(ids.map((id, i) => keep(account, id, 1_000 - i)));
    expect(await account.page()).toMatchObject({ next: '', open: ids });
  });

  test.each([
    ['ends with the message that fills it', 0, 1],
    ['goes on while a byte is left', 1, 2],
  ])('%s', async (_, left, count) => {
    const account = await makeAccount(redis);
    const row = `${NOW - 20}-7\nlaptop\n7\n1\n`.length;
    const first = await keep(account, 'm1', 20, { text: 'x'.repeat(PAGE_BYTES - row - left) });
    const second = await keep(account, 'm2', 10);
    await keep(account, 'm3', 5);
    const { next, open } = await account.page();
    expect(open).toHaveLength(count);
    expect(next).toBe(count === 1 ? first : second);
    expect((await account.page(next)).open).toEqual(['m2', 'm3'].slice(count - 1));
  });
});
