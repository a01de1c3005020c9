import type { Redis } from 'ioredis';
import { expectLifetimes } from '../../../support/redis/lifetime.ts';
import { connectTo, sharedRedisUrl } from '../../../support/redis/redis.ts';
import { IDLE_SECONDS, makeFile } from './file.ts';

/* Bytes come from the present sender and go to the present reader. */

let redis: Redis;

beforeAll(() => {
  redis = connectTo(sharedRedisUrl());
});
afterAll(() => redis.disconnect());

const REFUSED = { taken: null, notify: '', waiting: '' };
type File = ReturnType<typeof makeFile>;

const idle = ({ keys }: File) => ({ [keys.state]: IDLE_SECONDS, [keys.bytes]: IDLE_SECONDS });

describe('a chunk', () => {
  test('stays where it begins at the end of the bytes, and lets the file live on', async () => {
    const file = makeFile(redis);
    await file.begun({ ends: [10], fields: { w: 'w1', taken: 4 } });
    const commit = async () => expect(await file.commit(10, 20)).toMatchObject({ taken: 4, notify: '', waiting: '' });
    await expectLifetimes(redis, commit, idle(file));
    expect(await file.commit(20, 30)).toMatchObject({ taken: 4 });
    expect(await file.ends()).toEqual([10, 20, 30]);
  });

  test.each([
    ['of a request that was replaced', 10, 'w0'],
    ['behind one that was refused', 15, 'w1'],
    ['before the end of the bytes', 5, 'w1'],
  ])('%s is refused, and leaves nothing behind', async (_, start, token) => {
    const file = makeFile(redis);
    await file.begun({ ends: [10], fields: { w: 'w1', r: 'r1', rc: 'bus:r', rw: 11 } });
    const commit = async () => expect(await file.commit(start, 20, { token })).toMatchObject(REFUSED);
    await expectLifetimes(redis, commit, idle(file));
    expect(await file.ends()).toEqual([10]);
    expect(await file.open('-', { from: null })).toMatchObject({ end: 10, kept: 0 });
    expect(await file.commit(10, 14)).toMatchObject({ taken: 0, notify: 'bus:r' });
  });

  test('that is refused where there are no other bytes leaves an empty file', async () => {
    const file = makeFile(redis);
    await file.begun({ base: 10, fields: { w: 'w1' } });
    expect(await file.commit(12, 20)).toMatchObject(REFUSED);
    expect(await file.ends()).toEqual([]);
    expect(await file.open('-', { from: null })).toMatchObject({ found: 'here', end: 10, kept: 10 });
    expect(await file.commit(10, 20)).toMatchObject({ taken: 10 });
  });

  test('is refused where the state or the bytes were lost, and nothing comes back', async () => {
    const file = makeFile(redis);
    await file.begun({ ends: [10], fields: { w: 'w1' } });
    await redis.del(file.keys.state);
    expect(await file.commit(10, 20)).toMatchObject(REFUSED);
    const other = makeFile(redis);
    await other.begun({ ends: [10], fields: { w: 'w2' } });
    await redis.del(other.keys.bytes);
    expect(await other.commit(10, 20)).toMatchObject(REFUSED);
    expect(await other.hasBytes()).toBe(false);
  });

  test.each([
    [19, [10, 20]],
    [20, [20]],
    [21, [20]],
  ])('takes the place of those before when the receiver is beyond it: at %d', async (taken, ends) => {
    const file = makeFile(redis);
    await file.begun({ ends: [10], fields: { w: 'w1', taken } });
    expect(await file.commit(10, 20)).toMatchObject({ taken });
    expect(await file.ends()).toEqual(ends);
  });

  test.each([
    ['of too few bytes only tells who waits', 19, false, '', 'bus:r'],
    ['of enough bytes notifies the reader', 20, false, 'bus:r', ''],
    ['that is urgent notifies the reader', 12, true, 'bus:r', ''],
  ])('%s', async (_, end, urgent, notify, waiting) => {
    const file = makeFile(redis);
    await file.begun({ ends: [10], fields: { w: 'w1', r: 'r1', rc: 'bus:r', rw: 20 } });
    expect(await file.commit(10, end, { urgent })).toMatchObject({ taken: 0, notify, waiting });
    // The reader is notified once.
    const again = notify === '' ? 'bus:r' : '';
    expect(await file.commit(end, 25)).toMatchObject({ notify: again, waiting: '' });
  });
});

describe('a sender without space', () => {
  test('is notified once when enough is taken, and not when there is enough already', async () => {
    const file = makeFile(redis);
    await file.begun({ ends: [20], fields: { w: 'w1', r: 'r1', taken: 5 } });
    const wait = async () => expect(await file.waitWrite(10)).toMatchObject({ taken: 5, notify: '' });
    await expectLifetimes(redis, wait, idle(file));
    expect(await file.take(9)).toMatchObject({ notify: '', end: 20 });
    expect(await file.take(10)).toMatchObject({ notify: 'bus:w', end: 20 });
    expect(await file.take(11)).toMatchObject({ notify: '' });
    expect(await file.waitWrite(11)).toMatchObject({ taken: 11 });
    expect(await file.take(12)).toMatchObject({ notify: '' });
  });

  test('wakes a reader that waits, once', async () => {
    const file = makeFile(redis);
    await file.begun({ ends: [20], fields: { w: 'w1', r: 'r1', rc: 'bus:r', rw: 30 } });
    expect(await file.waitWrite(10)).toMatchObject({ taken: 0, notify: 'bus:r' });
    expect(await file.waitWrite(10)).toMatchObject({ notify: '' });
  });

  test.each([
    ['another sender replaced it', { token: 'w0' }],
    ['the file is in another generation', { generation: 2 }],
  ])('is told that %s', async (_, args) => {
    const file = makeFile(redis);
    await file.begun({ ends: [20], fields: { w: 'w1', r: 'r1', rc: 'bus:r', rw: 30 } });
    expect(await file.waitWrite(10, args)).toMatchObject({ taken: null, notify: '' });
    expect(await file.take(10)).toMatchObject({ notify: '' });
  });
});

describe('a reader that finds nothing', () => {
  test.each([
    ['the state is gone', null, {}, { word: 'lost', generation: 1 }],
    ['another replaced it', { r: 'r2' }, {}, { word: 'replaced', generation: 1 }],
    ['the sender has begun again', { g: 2 }, {}, { word: 'newer', generation: 2 }],
    ['the store lost the newer bytes', {}, { generation: 2 }, { word: 'lost', generation: 1 }],
    ['bytes have come', {}, { position: 19 }, { word: 'go', generation: 1 }],
    ['a sender was there', { w: 'w1' }, {}, { word: 'wait', generation: 1, hasBegun: true }],
    ['no sender was there', {}, {}, { word: 'wait', generation: 1, hasBegun: false }],
  ] as [string, Record<string, string | number> | null, { generation?: number; position?: number }, object][])(
    'is told that %s',
    async (_, fields, { position = 20, ...args }, answer) => {
      const file = makeFile(redis);
      if (fields !== null) await file.begun({ ends: [10, 20], fields: { r: 'r1', ...fields } });
      expect(await file.waitRead(position, args)).toMatchObject(answer);
    },
  );

  test('is told that the bytes are gone', async () => {
    const file = makeFile(redis);
    await file.begun({ ends: [20], fields: { r: 'r1' } });
    await redis.del(file.keys.bytes);
    expect(await file.waitRead(20)).toMatchObject({ word: 'lost', generation: 1 });
  });

  test('lets the file live on, and is notified of what it waits for', async () => {
    const file = makeFile(redis);
    await file.begun({ ends: [20], fields: { w: 'w1', r: 'r1', rc: 'bus:old' } });
    await expectLifetimes(redis, () => file.waitRead(20, { wanted: 25 }), idle(file));
    expect(await file.commit(20, 24)).toMatchObject({ notify: '', waiting: 'bus:r' });
    expect(await file.commit(24, 25)).toMatchObject({ notify: 'bus:r' });
  });

  test.each([
    ['from where it had everything', 20, 25],
    ['from before that', 19, 25],
    ['from behind that, which leaves a gap', 21, 20],
  ])('is the reader of a state that was made anew: %s', async (_, position, got) => {
    const file = makeFile(redis);
    await file.begun({ base: 20 });
    await file.waitRead(position);
    expect(await file.take(25, { token: 'r2' })).toMatchObject({ held: false });
    expect(await file.take(25)).toMatchObject({ held: true, got });
    expect(await file.open('r', { token: 'r2', from: 25 })).toMatchObject({ replaced: 'bus:r' });
  });
});

describe('what was taken', () => {
  test('is recorded, and the file lives for as long as the reader says', async () => {
    const file = makeFile(redis);
    await file.begun({ ends: [10, 20], fields: { r: 'r1' } });
    const take = async () => expect(await file.take(15)).toMatchObject({ held: true, notify: '', got: 15, end: 20 });
    await expectLifetimes(redis, take, { [file.keys.state]: 45, [file.keys.bytes]: 45 });
    expect(await file.open('-', { from: null })).toMatchObject({ taken: 15 });
    expect(await file.take(12)).toMatchObject({ got: 15 });
    expect(await file.open('-', { from: null })).toMatchObject({ taken: 15 });
  });

  test('frees what is not needed any more, and not the chunk that lies across', async () => {
    const file = makeFile(redis);
    await file.begun({ ends: [9, 10, 11, 20], fields: { r: 'r1' } });
    await file.take(20, { keepFrom: 10 });
    expect(await file.ends()).toEqual([11, 20]);
  });

  test.each([
    ['another request reads now', { r: 'r2' }],
    ['the state is gone', null],
  ])('is not recorded where %s', async (_, fields) => {
    const file = makeFile(redis);
    if (fields !== null) await file.begun({ ends: [20], fields });
    const before = await file.stored();
    expect(await file.take(15, { keepFrom: 15 })).toMatchObject({ held: false, notify: '' });
    expect(await file.stored()).toEqual(before);
    if (fields !== null) expect(await file.ends()).toEqual([20]);
  });

  test('does not count as everything for a reader that has left a gap', async () => {
    const file = makeFile(redis);
    await file.begun({ ends: [20, 30], fields: { r: 'r1', skips: 1, got: 5, taken: 10 } });
    expect(await file.take(25)).toMatchObject({ held: true, got: 5 });
    expect(await file.open('-', { from: null })).toMatchObject({ taken: 25 });
  });

  test('is everything up to an acknowledgement, whoever reads now, and its lifetime stays', async () => {
    const file = makeFile(redis);
    await file.begun({ ends: [20, 30], fields: { r: 'r2', skips: 1, got: 5, taken: 25, ww: 8, wc: 'bus:w' } });
    const acknowledge = async () => {
      await redis.expire(file.keys.state, 5);
      expect(await file.take(7, { token: '' })).toMatchObject({ held: true, notify: '', got: 7, end: 30 });
    };
    await expectLifetimes(redis, acknowledge, { [file.keys.state]: 5 });
    expect(await file.open('-', { from: null })).toMatchObject({ taken: 25 });
    expect(await file.take(28, { token: '' })).toMatchObject({ held: true, notify: 'bus:w', got: 28, end: 30 });
    expect(await file.open('-', { from: null })).toMatchObject({ taken: 28 });
    expect(await file.take(27, { token: '' })).toMatchObject({ notify: '', got: 28 });
  });

  test.each([1, 7])('is known for an acknowledgement behind what the reader has taken: %d', async (position) => {
    const file = makeFile(redis);
    await file.begun({ ends: [20, 30], fields: { r: 'r2', skips: 1, got: 0, taken: 25 } });
    await file.take(position, { token: '' });
    expect(await file.take(0, { token: '' })).toMatchObject({ got: position });
  });
});
