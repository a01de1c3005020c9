import type { Redis } from 'ioredis';
import { connectTo, sharedRedisUrl } from '../../../support/redis/redis.ts';
import { NOW } from '../../../support/redis/still-clock.ts';
import { makeAccount, rowOf } from './account.ts';

let redis: Redis;

beforeAll(() => {
  redis = connectTo(sharedRedisUrl());
});
afterAll(() => redis.disconnect());

const EVENT = ['device:removed', '!phone', '{"device_id":"phone","reason":"removed"}'];

describe('a device is removed', () => {
  test('with everything that waits for it, and the others are told', async () => {
    const account = await makeAccount(redis);
    await account.rows({ phone: rowOf('Phone') });
    await account.subscribe('phone');
    await redis.zadd(account.keys.due, NOW, 'session:phone', NOW, 'session:laptop');
    await redis.hset(account.keys.presence, 'phone', `1${NOW}`);
    await account.send('=phone');
    await redis.zadd(account.keys.inbox, 0, `phone2:${NOW}-1:m9`);
    await redis.del(account.keys.log);
    const { announced, ...reply } = await account.remove('phone');
    expect(reply).toEqual({ removed: true });
    expect(await redis.hkeys(account.keys.devices)).toEqual(['laptop']);
    expect(await redis.zrange(account.keys.inbox, '0', '-1')).toEqual([`phone2:${NOW}-1:m9`]);
    expect(await redis.hget(account.keys.mail, 'm1')).toBeNull();
    expect(await redis.zrange(account.keys.due, '0', '-1')).toEqual(['session:laptop']);
    expect(await redis.exists(account.keys.push)).toBe(0);
    expect(await redis.hgetall(account.keys.presence)).toEqual({ v: String(NOW) });
    expect(await account.logged()).toEqual([EVENT]);
    expect(announced.map(({ label }) => label)).toEqual(['device:removed', 'presence']);
  });

  test('that was never online', async () => {
    const account = await makeAccount(redis);
    await account.rows({ phone: rowOf('Phone') });
    expect(await account.remove('phone')).toMatchObject({ removed: true });
    expect(await account.logged()).toEqual([EVENT]);
  });

  test('that has no row: only its presence is announced, if it was', async () => {
    const account = await makeAccount(redis);
    expect(await account.remove('phone')).toEqual({ removed: false, announced: [] });
    expect(await redis.exists(account.keys.presence)).toBe(0);
    await redis.hset(account.keys.presence, 'phone', `1${NOW}`);
    const { announced, removed } = await account.remove('phone');
    expect(removed).toBe(false);
    expect(announced.map(({ label }) => label)).toEqual(['presence']);
    expect(await account.logged()).toEqual([]);
  });

  test.each([
    ['if its row is the one that was read', rowOf('Phone'), true],
    ['not if its row has changed since', rowOf('Old'), false],
  ])('%s', async (_, expected, isRemoved) => {
    const account = await makeAccount(redis);
    await account.rows({ phone: rowOf('Phone') });
    expect(await account.remove('phone', expected)).toMatchObject({ removed: isRemoved });
    expect(await account.row('phone')).toBe(isRemoved ? null : rowOf('Phone'));
  });
});
