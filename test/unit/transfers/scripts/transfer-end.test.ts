import type { Redis } from 'ioredis';
import { LIMITS } from '../../../../shared/contract/limits.ts';
import { connectTo, sharedRedisUrl } from '../../../support/redis/redis.ts';
import { NOW } from '../../../support/redis/still-clock.ts';
import { type Fields, makeAccount } from './account.ts';

/* What is kept of an ended transfer. */

let redis: Redis;

beforeAll(() => {
  redis = connectTo(sharedRedisUrl());
});
afterAll(() => redis.disconnect());

const RELAYED = { state: 'RELAY_ACTIVE', relay: '1', accepted: '1' };

/** Ends a transfer, and returns its record. */
async function end(fields: Fields, dropped: string[] = []) {
  const account = await makeAccount(redis);
  await account.transfer(fields);
  if (dropped.length > 0) await redis.hdel(account.keys.record, ...dropped);
  const { relay } = await account.prepareAct('phone', 'complete')();
  return { account, relay, record: await account.stored() };
}

describe('a transfer that has ended', () => {
  test('keeps its files and what had begun in the relay, and counts as ended from now on', async () => {
    const { account, record } = await end({ ...RELAYED, r0: '3:5', a0: '4', w0: '3:5 100' });
    expect(record).toMatchObject({
      state: 'DONE',
      files: '[{"name":"a","size":10}]',
      begun: '1 0:3:5',
      sealed: 'null',
    });
    for (const field of ['slot', 'brief', 'r0', 'a0', 'w0']) expect(record).not.toHaveProperty(field);
    expect(await account.transfers()).toEqual(['t1', String(NOW)]);
    expect(await account.glance('laptop')).toMatchObject({ relay: '1 0:3:5' });
  });

  test('keeps no field of its files, however many they are', async () => {
    const fields: Fields = { ...RELAYED, count: String(LIMITS.filesPerTransfer) };
    for (let i = 0; i < LIMITS.filesPerTransfer; i++)
      Object.assign(fields, { [`r${i}`]: '3:5', [`a${i}`]: '4', [`w${i}`]: '3:5 100' });
    const { record } = await end(fields);
    expect(Object.keys(record).filter((field) => /\d/.test(field))).toEqual([]);
    expect(record).toMatchObject({ begun: '1', sender: 'laptop' });
  });

  test('keeps the few files in its record when its list is not in it', async () => {
    expect((await end({ ...RELAYED, count: '17', files: '["few"]' })).record).toMatchObject({ files: '["few"]' });
  });

  test('keeps the few files that were chosen from a long list in its record', async () => {
    const { account, record } = await end({ ...RELAYED, brief: '[{"name":"b","size":1}]' });
    expect(record).toMatchObject({ files: '[{"name":"b","size":1}]' });
    expect(await account.read('phone')).toMatchObject({ files: '[{"name":"b","size":1}]' });
  });

  test.each([
    [LIMITS.endedListBytes, true],
    [LIMITS.endedListBytes + 1, false],
  ])('keeps what had begun in the relay in up to %d bytes', async (length, isKept) => {
    const word = (bytes: number) => `3:${'5'.repeat(bytes - '1 0:3:'.length)}`;
    const { record, relay } = await end({ ...RELAYED, r0: word(length) });
    expect(relay).toBe(`1 0:${word(length)}`);
    expect(record).toMatchObject({ begun: isKept ? relay : '1' });
  });
});

describe('a transfer of an earlier version', () => {
  test.each([
    [LIMITS.endedListBytes, true],
    [LIMITS.endedListBytes + 1, false],
  ])('keeps a sealed text of %d bytes in its record: %s', async (length, isKept) => {
    const sealed = `"${'x'.repeat(length - 2)}"`;
    expect((await end({ ...RELAYED, sealed })).record).toMatchObject({ sealed: isKept ? sealed : 'null' });
  });

  test.each([
    [LIMITS.filesInEvents, true],
    [LIMITS.filesInEvents + 1, false],
  ])('keeps its list of %d files in its record: %s', async (count, isKept) => {
    const { account, record } = await end({ ...RELAYED, count: String(count), files: '["list"]' }, ['slot']);
    expect(record).toMatchObject({ files: isKept ? '["list"]' : '[]' });
    expect(await redis.zscore(account.keys.transfers, 't1')).toBe(String(NOW));
  });

  test('that has no place among the live ones is removed as any other', async () => {
    const { account } = await end(RELAYED, ['slot']);
    await redis.zrem(account.keys.transfers, 't1:10:full');
    await account.evict();
    expect(await redis.exists(account.keys.record, account.keys.transfers, account.keys.offers)).toBe(0);
  });
});
