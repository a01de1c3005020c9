import type { Redis } from 'ioredis';
import { LIMITS } from '../../../../shared/contract/limits.ts';
import { connectTo, sharedRedisUrl } from '../../../support/redis/redis.ts';
import { NOW } from '../../../support/redis/still-clock.ts';
import { makeAccount } from './account.ts';

/* The answer to an accepted message without a key that is sent again because its answer was lost. */

let redis: Redis;

beforeAll(() => {
  redis = connectTo(sharedRedisUrl());
});
afterAll(() => redis.disconnect());

const AGAIN = 500;
const MINUTE = Math.floor(NOW / 60_000);

describe('the answer names', () => {
  test('each device that has the message, with its name of now', async () => {
    const account = await makeAccount(redis);
    await account.devices({ tablet: 'Tablet', watch: 'Watch' });
    const send = account.prepare({ wanted: '*' });
    await send();
    await account.devices({ tablet: 'Slate' });
    await redis.hdel(account.keys.devices, 'watch');
    const { targets } = await send(AGAIN);
    expect(targets?.toSorted()).toEqual([
      ['phone', 'Phone', '', false],
      ['tablet', 'Slate', '', false],
      ['watch', 'watch', '', false],
    ]);
  });

  test('not a device that came since', async () => {
    const account = await makeAccount(redis);
    const send = account.prepare({ wanted: '*' });
    await send();
    await account.devices({ tablet: 'Tablet' });
    expect((await send(AGAIN)).targets).toEqual([['phone', 'Phone', '', false]]);
  });

  test('a stream without a device, which is not pushed', async () => {
    const account = await makeAccount(redis);
    await account.stream('s1', 'bus:a', '~Desk');
    const send = account.prepare({ wanted: '~Desk', pushes: 'scheduled' });
    await send();
    await redis.del(account.keys.routes);
    expect((await send(AGAIN)).targets).toEqual([['', 'Desk', '', false]]);
  });
});

describe('the answer says that a mailbox is full', () => {
  test.each([
    [LIMITS.mailboxMessages - 1, false],
    [LIMITS.mailboxMessages, true],
  ])('of a device that did not get the message, if it is: %d', async (count, isFull) => {
    const account = await makeAccount(redis);
    await account.devices({ tablet: 'Tablet' });
    await redis.hset(account.keys.mail, 'bytes', 10, 'purged', MINUTE);
    await account.fill('tablet', LIMITS.mailboxMessages);
    const send = account.prepare({ wanted: '*' });
    await send();
    if (count < LIMITS.mailboxMessages) await redis.zrem(account.keys.inbox, `tablet:${NOW}-1:f0`);
    const full = isFull ? [['tablet', 'Tablet', 'mailbox_full', false]] : [];
    expect((await send(AGAIN)).targets).toEqual([['phone', 'Phone', '', false], ...full]);
  });

  test('not of a device that has the message as its last', async () => {
    const account = await makeAccount(redis);
    await redis.hset(account.keys.mail, 'bytes', 10, 'purged', MINUTE);
    await account.fill('phone', LIMITS.mailboxMessages - 1);
    const send = account.prepare();
    await send();
    expect((await send(AGAIN)).targets).toEqual([['phone', 'Phone', '', false]]);
  });
});

describe('the answer says that a device is pushed', () => {
  test.each<
    [string, { isSubscribed?: boolean; hasStream?: boolean; dead?: string[]; pushes?: 'off' | 'scheduled' }, boolean]
  >([
    ['that has no stream', {}, true],
    ['not while its stream may deliver', { hasStream: true }, false],
    ['whose stream is on a dead replica', { hasStream: true, dead: ['bus:a'] }, true],
    ['not without a subscription', { isSubscribed: false }, false],
    ['not where nothing is pushed', { pushes: 'off' }, false],
  ])('%s', async (_, { isSubscribed = true, hasStream = false, dead = [], pushes = 'scheduled' }, isPushed) => {
    const account = await makeAccount(redis);
    if (isSubscribed) await account.subscribe('phone');
    if (hasStream) await account.stream('s1', 'bus:a', 'phone');
    const send = account.prepare({ pushes, dead });
    const { targets } = await send();
    expect(targets).toEqual([['phone', 'Phone', '', isPushed]]);
    expect(await send(AGAIN)).toMatchObject({ targets, jobs: [] });
  });
});

describe('the answer has the time of the message', () => {
  /** Makes a log that is ahead of the clock, as after a failover. Its next entry has a later time than the message. */
  async function makeAheadAccount() {
    const account = await makeAccount(redis);
    await redis.xadd(account.keys.log, `${NOW + 5}-1`, 'p', '', 'e', '', 't', '', 'd', '', 's', '0');
    return account;
  }

  test('from its text in the mailbox', async () => {
    const account = await makeAheadAccount();
    const send = account.prepare();
    expect(await send()).toMatchObject({ createdAtMs: NOW });
    expect(await send(AGAIN)).toMatchObject({ createdAtMs: NOW });
  });

  test('from the log, which has the text of a message to a stream', async () => {
    const account = await makeAheadAccount();
    await account.stream('s1', 'bus:a', '~Desk');
    const send = account.prepare({ wanted: '~Desk' });
    await send();
    expect(await send(AGAIN)).toMatchObject({ createdAtMs: NOW });
  });

  test('of its entry in the log, when it was acknowledged since', async () => {
    const account = await makeAheadAccount();
    const send = account.prepare();
    await send();
    await account.ack(['m1'])();
    expect(await send(AGAIN)).toMatchObject({ createdAtMs: NOW + 6 });
  });
});
