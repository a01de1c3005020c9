import type { Redis } from 'ioredis';
import { connectTo, sharedRedisUrl } from '../../../support/redis/redis.ts';
import { NOW } from '../../../support/redis/still-clock.ts';
import { CREATED, type Fields, LOG_ID, makeAccount, openJson, REDELIVERY_MS } from './account.ts';

let redis: Redis;

beforeAll(() => {
  redis = connectTo(sharedRedisUrl());
});
afterAll(() => redis.disconnect());

const FILES = '[{"name":"a","size":10}]';

/** Returns a list of files followed by the ends of its files, as a long list is stored. */
function longListOf(files: string[]): string {
  const list = `[${files.join(',')}]`;
  const ends = files.map((_, i) => files.slice(0, i + 1).join(',').length + 1);
  return ends.map((end) => end.toString(16).padStart(8, '0')).join('') + list;
}
const LONG = Array.from({ length: 17 }, (_, i) => `{"name":"${'n'.repeat(i)}","size":${i}}`);

describe('one transfer is read', () => {
  test.each([['laptop'], ['phone']])('by either party: %s', async (device) => {
    const account = await makeAccount(redis);
    await account.transfer({ relay: '1', r0: '2:5' });
    const found = { openJson: openJson(), files: FILES, relay: '1 0:2:5', announced: [] };
    expect(await account.read(device)).toEqual(found);
    expect(await account.glance(device)).toEqual(found);
    expect(await account.glance(device, 'PENDING')).toEqual(found);
  });

  test('by nobody else', async () => {
    const account = await makeAccount(redis);
    await account.transfer();
    await expect(account.read('tablet')).rejects.toMatchObject({ code: 'not_a_party' });
    await expect(account.glance('tablet')).rejects.toMatchObject({ code: 'not_a_party' });
    await expect(account.file('tablet', 0)).rejects.toMatchObject({ code: 'not_a_party' });
  });

  test('only if it is there', async () => {
    const account = await makeAccount(redis);
    await expect(account.read('phone')).rejects.toMatchObject({ code: 'not_found' });
    await expect(account.glance('phone')).rejects.toMatchObject({ code: 'not_found' });
    await expect(account.file('phone', 0)).rejects.toMatchObject({ code: 'not_found' });
  });

  test('at a glance only in the wanted state', async () => {
    const account = await makeAccount(redis);
    await account.transfer();
    expect(await account.glance('phone', 'DONE')).toEqual({ openJson: '', files: '', relay: '', announced: [] });
  });

  test('with its long list and its sealed text, which a glance leaves out', async () => {
    const account = await makeAccount(redis);
    await account.transfer({ count: '17', sealed: '""', files: '[]', relay: '1', r3: '2:5' });
    await redis.mset(account.keys.files, longListOf(LONG), account.keys.sealed, 'text');
    expect(await account.read('phone')).toMatchObject({
      ...{ openJson: openJson({ count: '17', sealed: '"text"' }), files: `[${LONG.join(',')}]`, relay: '1 3:2:5' },
    });
    expect(await account.glance('phone')).toMatchObject({
      ...{ openJson: openJson({ count: '17', sealed: '""' }), files: '', relay: '1' },
    });
  });
});

describe('one file is read', () => {
  test.each([
    ['laptop', 'sender'],
    ['phone', 'receiver'],
  ])('by the %s, with the whole of a short list', async (device, role) => {
    const account = await makeAccount(redis);
    await account.transfer({ relay: '1', r0: '2:5', state: 'RELAY_ACTIVE' });
    expect(await account.file(device, 0)).toEqual({
      ...{ role, state: 'RELAY_ACTIVE', relayInUse: true, begun: '2:5', file: null, files: [{ name: 'a', size: 10 }] },
      announced: [],
    });
  });

  test('before it has begun', async () => {
    const account = await makeAccount(redis);
    await account.transfer();
    expect(await account.file('phone', 0)).toMatchObject({ state: 'PENDING', relayInUse: false, begun: '' });
  });

  test.each([[0], [1], [16]])('alone from a long list: the one with index %d', async (index) => {
    const account = await makeAccount(redis);
    await account.transfer({ count: '17' });
    await redis.set(account.keys.files, longListOf(LONG));
    expect(await account.file('phone', index)).toMatchObject({ file: JSON.parse(LONG[index] ?? ''), files: null });
  });

  test.each([[1], [2]])('only if the list has it: not the one with index %d of one', async (index) => {
    const account = await makeAccount(redis);
    await account.transfer();
    await expect(account.file('phone', index)).rejects.toMatchObject({ code: 'not_found' });
  });
});

test('a device has its transfers listed, the newest first, from the cursor on', async () => {
  const account = await makeAccount(redis);
  const members = [
    'phone all 1-a',
    'phone all 2-b',
    'phone all 3-c',
    'phone pending 1-1:a',
    'phon all 4-d',
    'tablet all 5-e',
  ];
  await redis.zadd(account.keys.offers, ...members.flatMap((member) => [0, member]));
  expect(await account.list('phone')).toMatchObject({ transfers: ['3-c', '2-b', '1-a'] });
  expect(await account.list('phone', '3-c')).toMatchObject({ transfers: ['2-b', '1-a'] });
  expect(await account.list('phone', '', 1)).toMatchObject({ transfers: ['3-c'] });
});

describe('an offer is delivered again', () => {
  test.each([
    ['before the position of its stream', NOW - 60, true, ['t1']],
    ['at its position', NOW - 50, true, ['t1']],
    ['not after its position, where the log has it', NOW - 49, true, []],
    ['after its position, where the log has lost it', NOW - 49, false, ['t1']],
    ['as long as that is of use', NOW - REDELIVERY_MS, false, ['t1']],
    ['not any longer', NOW - REDELIVERY_MS - 1, false, []],
  ])('%s', async (_, at, isLogged, transfers) => {
    const account = await makeAccount(redis);
    await redis.zadd(account.keys.offers, 0, `phone pending ${at}-7:t1`, 0, `tablet pending ${at}-7:t2`);
    if (isLogged) await redis.xadd(account.keys.log, `${at}-7`, 'p', '', 'e', '', 't', '', 'd', '', 's', '0');
    expect(await account.pending('phone', `${NOW - 50}-3`)).toMatchObject({ transfers });
  });
});

describe('a transfer whose time is over', () => {
  const DUE = [NOW, 'transfer:t1'] as const;
  const gone = async (account: Awaited<ReturnType<typeof makeAccount>>) =>
    expect(await redis.exists(account.keys.record, account.keys.offers, account.keys.transfers, account.keys.due)).toBe(
      0,
    );

  test('ends as failed, for both parties, and nothing of it is left', async () => {
    const account = await makeAccount(redis);
    await account.transfer({ relay: '1', r0: '2:5' });
    await redis.zadd(account.keys.due, ...DUE);
    const { announced, ...reply } = await account.expire();
    expect(reply).toEqual({ expired: true, relay: '1 0:2:5', wasLive: true });
    const error = '{"code":"expired","detail":null,"by_device_id":null}';
    const [[, entry] = []] = await account.logged();
    expect(entry?.slice(2, 6)).toEqual(['e', 'transfer:updated', 't', 'laptop\tphone']);
    expect(entry?.[7]).toContain(`{"transfer":${openJson({ state: 'FAILED', error })}`);
    expect(announced).toMatchObject([{ channel: 'bus:watch', label: 'transfer:updated' }]);
    await gone(account);
  });

  test('and that has ended before goes without a word', async () => {
    const account = await makeAccount(redis);
    await account.transfer({ state: 'DONE' });
    await redis.zadd(account.keys.due, ...DUE);
    expect(await account.expire()).toEqual({ expired: true, relay: '0', wasLive: false, announced: [] });
    expect(await account.logged()).toEqual([]);
    await gone(account);
  });

  test('and whose record is gone is taken off every list, and no other is', async () => {
    const account = await makeAccount(redis);
    const others = [`phone all ${CREATED}-xt1`, 'phone all 1-t12', 'phone pending 1-1:at1'];
    await redis.zadd(account.keys.offers, ...others.flatMap((member) => [0, member]));
    const own = [`laptop all ${CREATED}-t1`, `phone all ${CREATED}-t1`, `phone pending ${LOG_ID}:t1`];
    await redis.zadd(account.keys.offers, ...own.flatMap((member) => ['0', member]));
    await redis.zadd(account.keys.transfers, 0, 't1:10:full', 6, 't1', 5, 'xt1', 0, 'xt1:10:full');
    await redis.zadd(account.keys.due, ...DUE);
    expect(await account.expire()).toEqual({ expired: true, relay: '', wasLive: false, announced: [] });
    expect((await account.offers()).toSorted()).toEqual(others.toSorted());
    expect(await redis.exists(account.keys.due)).toBe(0);
    expect((await account.transfers()).filter((word) => word.includes('t1'))).toEqual(['xt1:10:full', 'xt1']);
  });

  test.each([
    ['its time has not come', NOW + 1],
    ['it is not due', null],
  ])('stays while %s', async (_, at) => {
    const account = await makeAccount(redis);
    await account.transfer();
    if (at !== null) await redis.zadd(account.keys.due, at, 'transfer:t1');
    expect(await account.expire()).toEqual({ expired: false, relay: '', wasLive: false, announced: [] });
    expect(await redis.exists(account.keys.record)).toBe(1);
    expect(await redis.zscore(account.keys.due, 'transfer:t1')).toBe(at === null ? null : String(at));
  });
});

describe('a record is removed to make space', () => {
  test.each<[string, Fields, boolean]>([
    ['when its transfer has ended', { state: 'DONE', slot: 't1' }, true],
    ['not while it is live', {}, false],
  ])('%s', async (_, fields, isGone) => {
    const account = await makeAccount(redis);
    await account.transfer(fields);
    await redis.zadd(account.keys.due, NOW, 'transfer:t1', NOW, 'transfer:t2');
    await account.evict();
    expect(await redis.exists(account.keys.record)).toBe(isGone ? 0 : 1);
    expect(await redis.zrange(account.keys.due, '0', '-1')).toEqual(
      isGone ? ['transfer:t2'] : ['transfer:t1', 'transfer:t2'],
    );
    expect(await account.offers()).toHaveLength(isGone ? 0 : 3);
  });

  test('which is gone already: its entry goes', async () => {
    const account = await makeAccount(redis);
    await redis.zadd(account.keys.transfers, 5, 't1', 6, 't2');
    await account.evict();
    expect(await account.transfers()).toEqual(['t2', '6']);
  });
});
