import { randomBytes } from 'node:crypto';
import type { Redis } from 'ioredis';
import { LIMITS } from '../../../../shared/contract/limits.ts';
import { makeKeys } from '../../../../services/sync/redis/keys.ts';
import * as scripts from '../../../../services/sync/relay/scripts.ts';
import { expectLifetimes } from '../../../support/redis/lifetime.ts';
import { connectTo, randomPrefix, sharedRedisUrl } from '../../../support/redis/redis.ts';
import { NOW, runScript } from '../../../support/redis/still-clock.ts';
import { IDLE_SECONDS, SETTINGS } from './file.ts';

/*
 * The relay keeps three lists of an account: files with a reservation, files without one, and the requests that read.
 */

let redis: Redis;

beforeAll(() => {
  redis = connectTo(sharedRedisUrl());
});
afterAll(() => redis.disconnect());

const keys = makeKeys(randomPrefix());
const IDLE_MS = 1_000 * IDLE_SECONDS;
const READ_SECONDS = 210;

function makeAccount() {
  const on = keys.inAccount(`u${randomBytes(5).toString('hex')}`, {});
  const lists = { files: on.relayFiles, kept: on.relayKept, reads: on.relayReads };
  const order = (key: string) => redis.zrange(key, '0', '-1');
  return {
    keys: lists,
    reserve: (file: string) => runScript(redis, scripts.relayReserve, SETTINGS, lists, { file }),
    release: (...files: string[]) => runScript(redis, scripts.relayRelease, [], lists, { files }),
    keep: async (file: string, { generation = 1, gives = false } = {}) =>
      (await runScript(redis, scripts.relayKeep, SETTINGS, lists, { file, generation, gives })).gone,
    read: (file: string, { token = 't1', channel = 'bus:a', begins = true } = {}) =>
      runScript(redis, scripts.relayRead, SETTINGS, lists, { file, token, channel, begins }),
    unread: (file: string, token = 't1') => runScript(redis, scripts.relayUnread, [], lists, { file, token }),
    readers: async (prefix = '') => (await runScript(redis, scripts.relayReaders, [], lists, { prefix })).readers,
    /** Writes a reservation that ends this many ms after NOW. */
    reserved: (file: string, inMs = 1) => redis.zadd(lists.files, NOW + inMs, file),
    reading: (file: string, inMs = 1) => redis.hset(lists.reads, file, `${NOW + inMs} t0 bus:0`),
    files: () => order(lists.files),
    kept: () => order(lists.kept),
  };
}

const names = (count: number) => Array.from({ length: count }, (_, i) => `f${String(i).padStart(2, '0')}/0`);

describe('a file with bytes has a reservation', () => {
  test('for the idle time, which is renewed', async () => {
    const account = makeAccount();
    const reserve = async () => expect(await account.reserve('a/0')).toMatchObject({ isNew: true });
    await expectLifetimes(redis, reserve, { [account.keys.files]: IDLE_SECONDS });
    await account.reserved('a/0', 5);
    const again = async () => expect(await account.reserve('a/0')).toMatchObject({ isNew: false });
    await expectLifetimes(redis, again, { [account.keys.files]: IDLE_SECONDS });
    expect(await redis.zscore(account.keys.files, 'a/0')).toBe(String(NOW + IDLE_MS));
  });

  test('of which an account has a number', async () => {
    const account = makeAccount();
    const [last = '', ...others] = names(LIMITS.relayFiles);
    for (const name of others) await account.reserve(name);
    await account.reserve(last);
    await expect(account.reserve('a/0')).rejects.toMatchObject({ code: 'relay_busy' });
    expect(await account.reserve(last)).toMatchObject({ isNew: false });
    await account.release(last);
    expect(await account.reserve('a/0')).toMatchObject({ isNew: true });
  });

  test('until its time is over', async () => {
    const account = makeAccount();
    for (const name of names(LIMITS.relayFiles - 1)) await account.reserved(name);
    await account.reserved('a/0', 0);
    await account.reserved('b/0', -1);
    expect(await account.reserve('c/0')).toMatchObject({ isNew: true });
    expect(await account.files()).toEqual([...names(LIMITS.relayFiles - 1), 'c/0']);
  });

  test('instead of a place among those that are kept without one', async () => {
    const account = makeAccount();
    for (const name of ['a/0', 'b/0', 'c/0']) await account.keep(name);
    await account.reserve('a/0');
    expect(await account.kept()).toEqual(['b/0/1', 'c/0/1']);
    await account.reserve('c/0');
    expect(await account.kept()).toEqual(['b/0/1']);
  });

  test('until it is released, and then is not kept either', async () => {
    const account = makeAccount();
    for (const name of ['a/0', 'b/0', 'c/0']) await account.keep(name);
    for (const name of ['d/0', 'e/0']) await account.reserve(name);
    await account.release('a/0', 'c/0', 'd/0');
    expect(await account.kept()).toEqual(['b/0/1']);
    expect(await account.files()).toEqual(['e/0']);
  });
});

describe('a file without a reservation is kept', () => {
  test('for the idle time, the newest last', async () => {
    const account = makeAccount();
    const life = { [account.keys.kept]: IDLE_SECONDS };
    await expectLifetimes(redis, async () => expect(await account.keep('z/0')).toEqual([]), life);
    await account.keep('y/0', { generation: 3 });
    await account.keep('x/0');
    expect(await account.kept()).toEqual(['z/0/1', 'y/0/3', 'x/0/1']);
    await account.keep('z/0');
    expect(await account.kept()).toEqual(['y/0/3', 'x/0/1', 'z/0/1']);
  });

  test('up to a number, and the oldest is evicted for a newer one', async () => {
    const account = makeAccount();
    const [oldest = '', ...others] = names(LIMITS.relayKeptFiles);
    for (const name of [oldest, ...others]) expect(await account.keep(name)).toEqual([]);
    expect(await account.keep('a/0')).toEqual([`${oldest}/1`]);
    expect(await account.kept()).toEqual([...others.map((name) => `${name}/1`), 'a/0/1']);
  });

  test('and a file with a reservation only if it gives that back', async () => {
    const account = makeAccount();
    await account.keep('a/0');
    await account.reserve('b/0');
    const keep = async () => {
      await redis.expire(account.keys.kept, 5);
      expect(await account.keep('b/0')).toEqual([]);
    };
    await expectLifetimes(redis, keep, { [account.keys.kept]: IDLE_SECONDS });
    expect([await account.files(), await account.kept()]).toEqual([['b/0'], ['a/0/1']]);
    await account.keep('b/0', { gives: true });
    expect([await account.files(), await account.kept()]).toEqual([[], ['a/0/1', 'b/0/1']]);
  });
});

describe('a request that reads', () => {
  const held = (replaced = '') => ({ held: true, replaced });

  test('is listed, and lets the lists live on', async () => {
    const account = makeAccount();
    await account.keep('k/0');
    await account.reserved('a/0', 5);
    const read = async () => {
      for (const key of [account.keys.kept, account.keys.files]) await redis.expire(key, 5);
      expect(await account.read('a/0')).toMatchObject(held());
    };
    const { reads, files, kept } = account.keys;
    await expectLifetimes(redis, read, { [reads]: READ_SECONDS, [files]: IDLE_SECONDS, [kept]: IDLE_SECONDS });
    expect(await redis.zscore(files, 'a/0')).toBe(String(NOW + IDLE_MS));
    await account.read('b/0', { token: 't2', channel: 'bus:b b' });
    expect(await account.files()).toEqual(['a/0']);
    expect(await account.readers()).toEqual([
      { file: 'a/0', channel: 'bus:a' },
      { file: 'b/0', channel: 'bus:b b' },
    ]);
    expect(await account.readers('b/')).toEqual([{ file: 'b/0', channel: 'bus:b b' }]);
    expect(await account.readers('c')).toEqual([]);
  });

  test('replaces the one that read before, which cannot go on', async () => {
    const account = makeAccount();
    await account.read('a/0', { token: 't1', channel: 'bus:a' });
    expect(await account.read('a/0', { token: 't2', channel: 'bus:b' })).toMatchObject(held('bus:a'));
    expect(await account.read('a/0', { token: 't1', begins: false })).toMatchObject({ held: false, replaced: '' });
    expect(await account.read('a/0', { token: 't2', channel: 'bus:b', begins: false })).toMatchObject(held());
    expect(await account.read('a/0', { token: 't2', channel: 'bus:b' })).toMatchObject(held());
    expect(await account.readers()).toEqual([{ file: 'a/0', channel: 'bus:b' }]);
  });

  test('goes on where the store has lost it', async () => {
    const account = makeAccount();
    expect(await account.read('a/0', { begins: false })).toMatchObject(held());
    expect(await account.readers()).toEqual([{ file: 'a/0', channel: 'bus:a' }]);
  });

  test('is one of a number that an account may have', async () => {
    const account = makeAccount();
    for (const name of names(LIMITS.relayReads - 1)) await account.reading(name);
    await account.read('a/0');
    await expect(account.read('b/0')).rejects.toMatchObject({ code: 'relay_busy' });
    expect(await account.read('a/0', { begins: false })).toMatchObject(held());
  });

  test('does not count when its time is over', async () => {
    const account = makeAccount();
    for (const name of names(LIMITS.relayReads - 1)) await account.reading(name);
    await account.reading('a/0', 0);
    await account.reading('b/0', -1);
    await account.read('c/0');
    expect((await account.readers()).map(({ file }) => file)).toEqual([...names(LIMITS.relayReads - 1), 'c/0']);
  });

  test('is forgotten when it stops, unless another has replaced it', async () => {
    const account = makeAccount();
    await account.read('a/0', { token: 't2' });
    await account.unread('a/0', 't1');
    expect(await account.readers()).toHaveLength(1);
    await account.unread('a/0', 't2');
    expect(await account.readers()).toEqual([]);
    await account.unread('a/0', 't2');
  });
});
