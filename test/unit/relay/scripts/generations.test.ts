import type { Redis } from 'ioredis';
import { expectLifetimes } from '../../../support/redis/lifetime.ts';
import { connectTo, sharedRedisUrl } from '../../../support/redis/redis.ts';
import { IDLE_SECONDS, makeFile } from './file.ts';

/* A generation of a file begins, requests join it, and it ends. */

let redis: Redis;

beforeAll(() => {
  redis = connectTo(sharedRedisUrl());
});
afterAll(() => redis.disconnect());

describe('a generation', () => {
  test('begins with no bytes at its offset, and lives for the idle time', async () => {
    const file = makeFile(redis);
    const create = async () => expect(await file.create(1, 10)).toMatchObject({ sender: '', reader: '' });
    await expectLifetimes(redis, create, { [file.keys.state]: IDLE_SECONDS, [file.keys.bytes]: IDLE_SECONDS });
    expect(await file.open('-', { from: null })).toMatchObject({
      found: 'here',
      end: 10,
      kept: 10,
      taken: 10,
      base: 10,
    });
    expect(await file.waitRead(10)).toMatchObject({ word: 'wait', generation: 1, hasBegun: false });
    expect(await file.take(10)).toMatchObject({ held: true, got: 10, end: 10 });
  });

  test('replaces the one before: the sender begins again, and the reader stays', async () => {
    const file = makeFile(redis);
    const waits = { w: 'w1', wc: 'bus:w', ww: 30, r: 'r1', rc: 'bus:r', rw: 40 };
    await file.begun({ ends: [10, 20], fields: { ...waits, got: 10, taken: 20 } });
    expect(await file.create(2, 10)).toMatchObject({ sender: 'bus:w', reader: 'bus:r' });
    expect(await file.hasBytes(1)).toBe(false);
    expect(await file.open('-', { from: null }, 2)).toMatchObject({ found: 'here', generation: 2, end: 10, taken: 10 });
    expect(await file.open('w', { token: 'w2', from: 10 }, 2)).toMatchObject({ replaced: '' });
    expect(await file.open('r', { token: 'r2', from: 10 }, 2)).toMatchObject({ replaced: 'bus:r' });
    const stored = await file.stored();
    expect(stored).not.toHaveProperty('ww');
    expect(stored).not.toHaveProperty('rw');
  });

  test.each([
    ['that exists stays as it is', 1, { wc: 'bus:w', rc: 'bus:r' }],
    ['that exists stays as it is, where nobody is', 1, {}],
    ['that is older than the one in force changes nothing', 0, { wc: 'bus:w', rc: 'bus:r' }],
    ['that is older than the one in force changes nothing, where nobody is', 0, {}],
  ])('%s', async (_, generation, fields) => {
    const file = makeFile(redis);
    await file.begun({ ends: [10, 20], fields });
    const before = await file.stored();
    expect(await file.create(generation, 5)).toMatchObject({ sender: '', reader: '' });
    expect(await file.stored()).toEqual(before);
    expect(await file.ends()).toEqual([10, 20]);
    expect(await file.hasBytes(0)).toBe(false);
  });

  test('whose bytes were lost begins again', async () => {
    const file = makeFile(redis);
    await file.begun({ ends: [10, 20], fields: { wc: 'bus:w', rc: 'bus:r' } });
    await redis.del(file.keys.bytes);
    expect(await file.create(1, 5)).toMatchObject({ sender: 'bus:w', reader: 'bus:r' });
    expect(await file.open('-', { from: null })).toMatchObject({ found: 'here', end: 5, kept: 5, taken: 5 });
  });

  test('whose state was lost has none of the bytes that were left', async () => {
    const file = makeFile(redis);
    await file.begun({ ends: [10, 20] });
    await redis.del(file.keys.state);
    await file.create(1, 5);
    expect(await file.open('-', { from: null })).toMatchObject({ found: 'here', end: 5, kept: 5 });
  });

  test.each([
    ['before which the receiver has everything', 10, 10, 15, 15],
    ['before which the receiver lacks bytes', 5, 10, 15, 5],
    ['that the receiver is beyond', 12, 10, 15, 15],
  ])('at an offset %s', async (_, got, base, position, gotThen) => {
    const file = makeFile(redis);
    await file.begun({ ends: [20], fields: { got, r: 'r1' } });
    await file.create(2, base);
    expect(await file.take(base)).toMatchObject({ got: Math.min(got, base) });
    expect(await file.take(position)).toMatchObject({ got: gotThen });
  });
});

describe('a request that begins', () => {
  test.each([
    ['nothing of the file', null, 1, { found: 'lost', generation: 1 }],
    ['an older generation', {}, 2, { found: 'lost', generation: 2 }],
    ['a newer generation', { g: 3 }, 1, { found: 'newer', generation: 3 }],
    ['the generation', {}, 1, { found: 'here', generation: 1, end: 20, kept: 0, taken: 7, base: 0, replaced: '' }],
  ])('finds %s', async (_, fields, generation, found) => {
    const file = makeFile(redis);
    if (fields !== null) await file.begun({ ends: [10, 20], fields: { taken: 7, ...fields } });
    expect(await file.open('-', { from: null }, generation)).toMatchObject(found);
  });

  test('finds a generation lost whose bytes are gone', async () => {
    const file = makeFile(redis);
    await file.begun({ ends: [10, 20] });
    await redis.del(file.keys.bytes);
    expect(await file.open('r', { from: 0 })).toMatchObject({ found: 'lost', generation: 1 });
  });

  test('finds where the kept bytes begin, and where they end', async () => {
    const file = makeFile(redis);
    await file.begun({ base: 5, ends: [10, 25, 30], fields: { taken: 30 } });
    await redis.xtrim(file.keys.bytes, 'MINID', 11);
    expect(await file.open('-', { from: null })).toMatchObject({ kept: 10, end: 30, base: 5 });
    await redis.xtrim(file.keys.bytes, 'MINID', 31);
    expect(await file.open('-', { from: null })).toMatchObject({ kept: 30, end: 30 });
  });

  test.each([
    [true, IDLE_SECONDS],
    [false, 5],
  ])('lets the file live on if it keeps it alive: %s', async (keepsAlive, seconds) => {
    const file = makeFile(redis);
    await file.begun();
    const open = async () => {
      await redis.expire(file.keys.state, 5);
      await redis.expire(file.keys.bytes, 5);
      await file.open('-', { from: null, keepsAlive });
    };
    await expectLifetimes(redis, open, { [file.keys.state]: seconds, [file.keys.bytes]: seconds });
  });

  test('to find out replaces nobody', async () => {
    const file = makeFile(redis);
    await file.begun({ ends: [20], fields: { w: 'w1', wc: 'bus:w', r: 'r1', rc: 'bus:r' } });
    const before = await file.stored();
    expect(await file.open('-', { from: null })).toMatchObject({ replaced: '' });
    expect(await file.open('w', { token: 'w2', from: 19 })).toMatchObject({ found: 'here', end: 20, replaced: '' });
    expect(await file.stored()).toEqual(before);
  });

  test('to send where the bytes end replaces the sender, which nobody notifies any more', async () => {
    const file = makeFile(redis);
    const fields = { w: 'w1', wc: 'bus:w', ww: 5, r: 'r1', rc: 'bus:r', rw: 21, taken: 4 };
    await file.begun({ base: 3, ends: [20], fields });
    const here = { found: 'here', generation: 1, base: 3, kept: 3, taken: 4, end: 20, replaced: 'bus:w' };
    expect(await file.open('w', { token: 'w2', channel: 'bus:2', from: 20 })).toMatchObject(here);
    expect(await file.take(10)).toMatchObject({ held: true, notify: '' });
    expect(await file.commit(20, 30, { token: 'w2' })).toMatchObject({ taken: 10, notify: 'bus:r' });
    expect(await file.open('w', { token: 'w3', from: 30 })).toMatchObject({ replaced: 'bus:2' });
  });

  test('to read replaces the reader, which nobody notifies any more', async () => {
    const file = makeFile(redis);
    await file.begun({ ends: [20], fields: { w: 'w1', wc: 'bus:w', r: 'r1', rc: 'bus:r', rw: 30 } });
    expect(await file.open('r', { token: 'r2', channel: 'bus:2', from: 5 })).toMatchObject({ replaced: 'bus:r' });
    expect(await file.take(10)).toMatchObject({ held: false });
    expect(await file.take(10, { token: 'r2' })).toMatchObject({ held: true });
    expect(await file.commit(20, 30)).toMatchObject({ notify: '', waiting: '' });
    expect(await file.open('r', { token: 'r3', from: 5 })).toMatchObject({ replaced: 'bus:2' });
  });

  test.each([
    ['where it has everything before', 7, 12],
    ['before that', 6, 12],
    ['behind that, which leaves a gap', 8, 7],
  ])('to read from an offset %s', async (_, from, got) => {
    const file = makeFile(redis);
    await file.begun({ ends: [20], fields: { got: 7, taken: 8 } });
    await file.open('r', { from });
    expect(await file.take(12)).toMatchObject({ got });
  });

  test.each([
    ['behind what was taken gives the sender space', 12, 12],
    ['at what was taken', 10, 10],
    ['before what was taken takes nothing back', 9, 10],
    ['where bytes were already dropped', 7, 10],
  ])('to read from an offset %s', async (_, from, taken) => {
    const file = makeFile(redis);
    await file.begun({ ends: [8, 20, 30], fields: { taken: 10 } });
    await redis.xtrim(file.keys.bytes, 'MINID', 9);
    expect(await file.open('r', { from })).toMatchObject({ taken });
    expect(await file.open('-', { from: null })).toMatchObject({ taken });
  });

  test('to read from where nothing is kept any more gives the sender space, and not from before that', async () => {
    const file = makeFile(redis);
    await file.begun({ ends: [20], fields: { taken: 10 } });
    await redis.xtrim(file.keys.bytes, 'MINID', 21);
    expect(await file.open('r', { from: 19 })).toMatchObject({ taken: 10 });
    expect(await file.open('r', { from: 20 })).toMatchObject({ taken: 20 });
  });

  test('to read removes what nobody needs, and not the chunk that lies across', async () => {
    const file = makeFile(redis);
    await file.begun({ ends: [9, 10, 11, 20] });
    await file.open('r', { from: 15, keepFrom: 10 });
    expect(await file.ends()).toEqual([11, 20]);
  });
});

describe('a request that leaves', () => {
  test.each(['w', 'r'] as const)('is replaced by nobody, and notified of nothing: %s', async (side) => {
    const file = makeFile(redis);
    await file.begun({ ends: [20], fields: { [side]: 't1', [`${side}c`]: 'bus:x', [`${side}w`]: 20 } });
    await file.leave(side, 't1');
    expect(await file.stored()).not.toHaveProperty(`${side}w`);
    expect(await file.open(side, { from: 20 })).toMatchObject({ replaced: '' });
  });

  test('sends and takes nothing any more', async () => {
    const file = makeFile(redis);
    await file.begun({ ends: [20], fields: { w: 'w1', wc: 'bus:w', r: 'r1', rc: 'bus:r' } });
    await file.leave('w', 'w1');
    expect(await file.commit(20, 30)).toMatchObject({ taken: null });
    await file.leave('r', 'r1');
    expect(await file.take(10)).toMatchObject({ held: false });
  });

  test('leaves the one that has replaced it as it is', async () => {
    const file = makeFile(redis);
    await file.begun({ fields: { r: 'r2', rc: 'bus:r', rw: 20 } });
    const before = await file.stored();
    await file.leave('r', 'r1');
    expect(await file.stored()).toEqual(before);
  });

  test('does not let the one that it has replaced go on', async () => {
    const file = makeFile(redis);
    await file.begun({ fields: { r: 'r2', rc: 'bus:r' } });
    await file.leave('r', 'r2');
    expect(await file.waitRead(0)).toMatchObject({ word: 'replaced' });
  });
});

describe('a file that ends', () => {
  const fields = { w: 'w1', wc: 'bus:w', r: 'r1', rc: 'bus:r' };

  test('is removed with its transfer, and its requests are told', async () => {
    const file = makeFile(redis);
    await file.begun({ ends: [20], fields });
    expect(await file.drop()).toMatchObject({ sender: 'bus:w', reader: 'bus:r' });
    expect(await file.stored()).toEqual({});
    expect(await file.hasBytes()).toBe(false);
    expect(await file.drop()).toMatchObject({ sender: '', reader: '' });
  });

  test('is removed for newer ones, and its requests are told', async () => {
    const file = makeFile(redis);
    await file.begun({ ends: [20], fields });
    expect(await file.evict(1)).toMatchObject({ sender: 'bus:w', reader: 'bus:r' });
    expect(await file.stored()).toEqual({});
    expect(await file.hasBytes()).toBe(false);
  });

  test('is removed for newer ones, where nobody is', async () => {
    const file = makeFile(redis);
    await file.begun({ ends: [20] });
    expect(await file.evict(1)).toMatchObject({ sender: '', reader: '' });
  });

  test('keeps its state for the generation that it is in by now', async () => {
    const file = makeFile(redis);
    await file.begun({ ends: [20], fields: { ...fields, g: 2 } });
    const before = await file.stored();
    expect(await file.evict(1)).toMatchObject({ sender: '', reader: '' });
    expect(await file.stored()).toEqual(before);
    expect(await file.hasBytes()).toBe(false);
  });
});
