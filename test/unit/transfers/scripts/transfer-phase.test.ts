import type { Redis } from 'ioredis';
import { connectTo, sharedRedisUrl } from '../../../support/redis/redis.ts';
import { NOW } from '../../../support/redis/still-clock.ts';
import { changedJson, type Fields, makeAccount } from './account.ts';

let redis: Redis;

beforeAll(() => {
  redis = connectTo(sharedRedisUrl());
});
afterAll(() => redis.disconnect());

/** At most four phases a second are forwarded. */
const FORWARD_MS = 250;
const ACTIVE = { state: 'P2P_ACTIVE', accepted: '1' };
const NOTHING = { openJson: '', files: '', relay: '', waitMs: 0, announced: [] };

describe('a phase', () => {
  test('is stored, and forwarded to both parties without an entry in the log', async () => {
    const account = await makeAccount(redis);
    await account.transfer(ACTIVE);
    const json = changedJson({ ...ACTIVE, phase: 'sending', sent: '7' });
    const { announced, ...reply } = await account.phase('laptop', { phase: 'sending', sent: 7 });
    expect(reply).toEqual({
      ...{ openJson: json, files: '[{"name":"a","size":10}]', relay: '0', refusingState: '', waitMs: 0, wrong: '' },
    });
    const data = `{"transfer":${json},"files":[{"name":"a","size":10}]}}`;
    const fields = ['u', account.name, 'transfer:updated', 'laptop\tphone', data];
    expect(announced).toEqual([{ channel: 'bus:watch', label: 'transfer:updated', payload: fields.join('\n') }]);
    expect(await account.logged()).toEqual([]);
    expect(await account.stored()).toMatchObject({ phase: 'sending', sent: '7', dirty: '0', forwarded: String(NOW) });
  });

  test.each([
    ['too early', FORWARD_MS - 1, 1],
    ['at once after another', 0, FORWARD_MS],
  ])('waits when it comes %s', async (_, ago, waitMs) => {
    const account = await makeAccount(redis);
    await account.transfer({ ...ACTIVE, forwarded: String(NOW - ago) });
    expect(await account.phase('phone', { phase: 'receiving', received: 3 })).toMatchObject({ waitMs, announced: [] });
    const stored = { phase: 'receiving', received: '3', dirty: '1', forwarded: String(NOW - ago) };
    expect(await account.stored()).toMatchObject(stored);
  });

  test('that waited is forwarded by a call without one, when its time has come', async () => {
    const account = await makeAccount(redis);
    await account.transfer({ ...ACTIVE, dirty: '1', phase: 'waiting', forwarded: String(NOW - FORWARD_MS) });
    const { announced, waitMs } = await account.phase('phone', {});
    expect({ waitMs, count: announced.length }).toEqual({ waitMs: 0, count: 1 });
    expect(await account.stored()).toMatchObject({ phase: 'waiting', dirty: '0', forwarded: String(NOW) });
  });

  test('that nobody waits with is not forwarded', async () => {
    const account = await makeAccount(redis);
    await account.transfer(ACTIVE);
    expect(await account.phase('phone', {})).toMatchObject({ waitMs: 0, announced: [] });
    expect(await account.stored()).toMatchObject({ forwarded: '0' });
    await account.transfer({ forwarded: String(NOW - 10) });
    expect(await account.phase('phone', {})).toMatchObject({ waitMs: 0, announced: [] });
  });

  test('leaves the numbers that it does not name', async () => {
    const account = await makeAccount(redis);
    await account.transfer({ ...ACTIVE, sent: '6', received: '5' });
    await account.phase('phone', { phase: 'receiving' });
    expect(await account.stored()).toMatchObject({ phase: 'receiving', sent: '6', received: '5' });
  });

  test.each([
    ['the sender reports what was received', 'laptop', { received: 1 }, 'received_bytes'],
    ['the receiver reports what was sent', 'phone', { sent: 1 }, 'sent_bytes'],
    ['more was sent than there is', 'laptop', { sent: 11 }, 'sent_bytes'],
    ['more was received than there is', 'phone', { received: 11 }, 'received_bytes'],
  ])('is refused where %s', async (_, device, numbers, wrong) => {
    const account = await makeAccount(redis);
    await account.transfer(ACTIVE);
    const reply = await account.phase(device, { phase: 'sending', ...numbers });
    expect(reply).toEqual({ ...NOTHING, refusingState: '', wrong });
    expect(await account.stored()).toMatchObject({ phase: 'initializing', sent: '0', received: '0' });
  });

  test.each([
    ['laptop', { sent: 10 }, { sent: '10' }],
    ['phone', { received: 10 }, { received: '10' }],
  ])('may say that all is there: the %s', async (device, numbers, stored) => {
    const account = await makeAccount(redis);
    await account.transfer(ACTIVE);
    expect(await account.phase(device, { phase: 'sending', ...numbers })).toMatchObject({ wrong: '' });
    expect(await account.stored()).toMatchObject(stored);
  });

  test('is refused by an ended transfer, one that is not there, and one of others', async () => {
    const account = await makeAccount(redis);
    await expect(account.phase('phone', { phase: 'x' })).rejects.toMatchObject({ code: 'not_found' });
    await account.transfer({ state: 'DONE' });
    await expect(account.phase('tablet', { phase: 'x' })).rejects.toMatchObject({ code: 'not_a_party' });
    expect(await account.phase('phone', { phase: 'x' })).toEqual({ ...NOTHING, refusingState: 'DONE', wrong: '' });
  });
});

describe('what the receiver has stored of a file', () => {
  test.each<[string, Fields, number, Fields]>([
    ['counts as received', {}, 4, { a0: '4', received: '4' }],
    ['is nothing at first', {}, 0, { a0: '0', received: '0' }],
    ['counts with the other files', { a1: '3', a12: '2' }, 4, { a0: '4', received: '9' }],
    ['never goes back', { a0: '5', received: '5' }, 4, { a0: '5', received: '5' }],
    ['never lowers what was reported', { received: '8' }, 4, { a0: '4', received: '8' }],
    ['does not count what is not a file', { accepted: '1', ax: '100' }, 4, { a0: '4', received: '4' }],
  ])('%s', async (_, fields, storedBytes, stored) => {
    const account = await makeAccount(redis);
    await account.transfer({ ...ACTIVE, ...fields });
    const { announced } = await account.phase('phone', { file: 0, storedBytes });
    expect(await account.stored()).toMatchObject({ ...stored, phase: 'initializing' });
    expect(announced).toHaveLength(stored.received === (fields.received ?? '0') ? 0 : 1);
  });
});
