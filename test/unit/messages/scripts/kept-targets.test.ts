import type { Redis } from 'ioredis';
import { LIMITS } from '../../../../shared/contract/limits.ts';
import { expectLifetimes } from '../../../support/redis/lifetime.ts';
import { connectTo, sharedRedisUrl } from '../../../support/redis/redis.ts';
import { NOW } from '../../../support/redis/still-clock.ts';
import { makeAccount } from './account.ts';

/* The lists of devices to which remembered answers refer. */

let redis: Redis;

beforeAll(() => {
  redis = connectTo(sharedRedisUrl());
});
afterAll(() => redis.disconnect());

const TO_ALL = { wanted: '*', rememberSeconds: LIMITS.idempotencySeconds };
/** An answer can be requested for this long, and for a minute an answer may refer to a list without writing it. */
const KEPT_MS = 1_000 * (LIMITS.idempotencySeconds + 120);
type Account = Awaited<ReturnType<typeof makeAccount>>;

/** Makes an account in which a message to all has this many targets. */
async function makeAccountOf(count: number) {
  const account = await makeAccount(redis);
  const others = Array.from({ length: count - 1 }, (_, i) => [`d${i}`, `Device ${i}`]);
  if (others.length > 0) await account.devices(Object.fromEntries(others));
  return account;
}
/** Adds lists to which answers referred this many ms ago. */
const addLists = (account: Account, agos: number[]) =>
  redis.hset(account.keys.targets, ...agos.flatMap((ago, i) => [`tx${i}`, NOW - ago, `lx${i}`, `d${i} Device`]));
const listsOf = async (account: Account) => {
  const fields = await redis.hkeys(account.keys.targets);
  const named = (kind: string) => fields.filter((field) => field.startsWith(kind)).map((field) => field.slice(1));
  expect(named('l').toSorted()).toEqual(named('t').toSorted());
  return named('t');
};

describe('a remembered answer to many devices', () => {
  test('says again who was refused, and who was pushed, whoever is there now', async () => {
    const account = await makeAccountOf(5);
    await redis.hset(account.keys.mail, 'bytes', 10, 'purged', Math.floor(NOW / 60_000));
    await account.fill('d1', LIMITS.mailboxMessages);
    await account.subscribe('phone');
    await account.subscribe('d2');
    const { targets } = await account.send({ ...TO_ALL, pushes: 'scheduled' });
    expect(targets?.toSorted()).toEqual([
      ['d0', 'Device 0', '', false],
      ['d1', 'Device 1', 'mailbox_full', false],
      ['d2', 'Device 2', '', true],
      ['d3', 'Device 3', '', false],
      ['phone', 'Phone', '', true],
    ]);
    await redis.del(account.keys.devices, account.keys.push, account.keys.inbox);
    expect(await account.send(TO_ALL)).toMatchObject({ targets, isRepeated: true });
  });

  test.each([
    [3, 0],
    [4, 1],
    [6, 1],
  ])('shares their list with other answers, to %d devices', async (count, lists) => {
    const account = await makeAccountOf(count);
    await account.send(TO_ALL);
    expect(await listsOf(account)).toHaveLength(lists);
    await redis.del(account.keys.operation);
    const other = { ...TO_ALL, messageId: 'm2', fingerprint: 'other' };
    const { targets } = await account.send(other);
    expect(await listsOf(account)).toHaveLength(lists);
    expect(await account.send(other)).toMatchObject({ targets, isRepeated: true });
  });

  test('names nobody where the list is gone', async () => {
    const account = await makeAccountOf(4);
    await account.send(TO_ALL);
    await redis.del(account.keys.targets);
    expect((await account.send(TO_ALL)).targets).toEqual([]);
  });
});

describe('the list of an answer', () => {
  test('lives as long as the answer can be requested', async () => {
    const account = await makeAccountOf(4);
    await expectLifetimes(redis, () => account.send(TO_ALL), { [account.keys.targets]: KEPT_MS / 1_000 });
  });

  test.each([
    ['is noted again a minute after the last note', 60_000, true],
    ['is not noted again within a minute', 59_999, false],
    ['is noted again a minute before the last note, after the clock went back', -60_000, true],
    ['is not noted again within a minute after the clock went back', -59_999, false],
  ])('%s', async (_, ago, isNoted) => {
    const account = await makeAccountOf(4);
    await account.send(TO_ALL);
    const [digest] = await listsOf(account);
    await redis.hset(account.keys.targets, `t${digest}`, NOW - ago);
    await redis.del(account.keys.operation);
    await account.send(TO_ALL);
    expect(await redis.hget(account.keys.targets, `t${digest}`)).toBe(String(isNoted ? NOW : NOW - ago));
  });

  test('that is noted again leaves the others as they are', async () => {
    const account = await makeAccountOf(4);
    await account.send(TO_ALL);
    const [digest] = await listsOf(account);
    await redis.hset(account.keys.targets, `t${digest}`, NOW - 60_000);
    await addLists(account, [KEPT_MS + 1]);
    await redis.del(account.keys.operation);
    await account.send(TO_ALL);
    expect(await listsOf(account)).toHaveLength(2);
  });
});

describe('a new list', () => {
  test('takes the place of the oldest when there are as many as are kept', async () => {
    const account = await makeAccountOf(4);
    await addLists(
      account,
      Array.from({ length: LIMITS.targetLists }, (_, i) => LIMITS.targetLists - i),
    );
    await account.send(TO_ALL);
    const lists = await listsOf(account);
    expect(lists).toHaveLength(LIMITS.targetLists);
    expect(lists).not.toContain('x0');
    expect(lists).toContain('x1');
  });

  test('takes none where there is space', async () => {
    const account = await makeAccountOf(4);
    await addLists(
      account,
      Array.from({ length: LIMITS.targetLists - 1 }, (_, i) => i),
    );
    await account.send(TO_ALL);
    expect(await listsOf(account)).toHaveLength(LIMITS.targetLists);
  });

  test('is kept among lists of one millisecond', async () => {
    const account = await makeAccountOf(4);
    await addLists(
      account,
      Array.from({ length: 40 }, () => 5),
    );
    await account.send(TO_ALL);
    expect(await listsOf(account)).toHaveLength(41);
  });

  test('has those removed to which no answer refers any more', async () => {
    const account = await makeAccountOf(4);
    await addLists(account, [KEPT_MS + 1, KEPT_MS, 5]);
    await account.send(TO_ALL);
    const lists = await listsOf(account);
    expect(lists).toHaveLength(3);
    expect(lists).toEqual(expect.arrayContaining(['x1', 'x2']));
  });
});
