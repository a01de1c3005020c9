import type { Redis } from 'ioredis';
import { RATES } from '../../../../shared/contract/rates.ts';
import { expectLifetimes } from '../../../support/redis/lifetime.ts';
import { connectTo, sharedRedisUrl } from '../../../support/redis/redis.ts';
import { NOW } from '../../../support/redis/still-clock.ts';
import { makeAccount, rowOf } from './account.ts';

let redis: Redis;

beforeAll(() => {
  redis = connectTo(sharedRedisUrl());
});
afterAll(() => redis.disconnect());

const EVENT = ['device:renamed', '*', '{"device":{"device_id":"laptop","name":"Desk","type":"desktop"}}'];

describe('a device is renamed', () => {
  test('and everybody is told, with a new version of presence', async () => {
    const account = await makeAccount(redis);
    await redis.hset(account.keys.presence, 'laptop', `1${NOW}`);
    const { announced, ...reply } = await account.prepareRename('laptop', 'Desk')();
    expect(reply).toEqual({ row: rowOf('Desk'), state: `1${NOW}` });
    expect(await account.row('laptop')).toBe(rowOf('Desk'));
    expect(await account.logged()).toEqual([EVENT]);
    expect(announced.map(({ label }) => label)).toEqual(['device:renamed', 'presence']);
    expect(await redis.hget(account.keys.presence, 'v')).toBe(String(NOW));
    expect(await redis.exists(account.keys.operation)).toBe(0);
  });

  test('to the name that it has, and nobody is told', async () => {
    const account = await makeAccount(redis);
    expect(await account.prepareRename('laptop', 'Laptop')()).toEqual({
      row: rowOf('Laptop'),
      state: '',
      announced: [],
    });
    expect(await account.logged()).toEqual([]);
  });

  test.each([
    ['of a device without a row', 'removed', 'laptop', 'device_required'],
    ['for a device that is not there', 'laptop', 'nobody', 'not_found'],
  ])('not at the wish %s', async (_, caller, device, code) => {
    const account = await makeAccount(redis);
    await expect(account.prepareRename(device, 'Desk', caller)()).rejects.toMatchObject({ code });
    expect(await account.logged()).toEqual([]);
  });

  test('as often as the rate of the account allows', async () => {
    const account = await makeAccount(redis);
    await redis.set(account.keys.rate, RATES.rename.limit, 'EX', 60);
    await expect(account.prepareRename('laptop', 'Desk')()).rejects.toMatchObject({ code: 'rate_limited' });
  });
});

describe('a rename that is sent again', () => {
  test('answers the row as it is now', async () => {
    const account = await makeAccount(redis);
    const rename = account.prepareRename('laptop', 'Desk');
    await rename();
    expect(await rename(500)).toEqual({ row: rowOf('Desk'), state: '', announced: [], isRepeated: true });
    await account.prepareRename('laptop', 'Shelf')();
    await redis.hset(account.keys.presence, 'laptop', `0${NOW}`);
    expect(await rename(500)).toMatchObject({ row: rowOf('Shelf'), state: `0${NOW}` });
    expect(await account.logged()).toHaveLength(2);
  });

  test('of a device that was removed since finds nothing', async () => {
    const account = await makeAccount(redis);
    const rename = account.prepareRename('laptop', 'Desk');
    await rename();
    await redis.hdel(account.keys.devices, 'laptop');
    await expect(rename(500)).rejects.toMatchObject({ code: 'not_found' });
  });

  test('keeps its answer for a minute, for the first copy, which may come last', async () => {
    const account = await makeAccount(redis);
    const rename = account.prepareRename('laptop', 'Desk');
    await expectLifetimes(redis, () => rename(500), { [account.keys.operation]: 60 });
    await account.rows({ laptop: rowOf('Shelf') });
    expect(await rename()).toMatchObject({ row: rowOf('Desk'), isRepeated: true });
    expect(await account.row('laptop')).toBe(rowOf('Shelf'));
  });

  test('is refused where the log may have lost it', async () => {
    const account = await makeAccount(redis);
    await redis.xadd(account.keys.log, `${NOW}-1`, 'p', '1-1', 'e', '', 't', '', 'd', '', 's', '0');
    const again = account.prepareRename('laptop', 'Desk')(500);
    await expect(again).rejects.toMatchObject({ code: 'store_unavailable' });
    expect(await account.row('laptop')).toBe(rowOf('Laptop'));
  });
});
