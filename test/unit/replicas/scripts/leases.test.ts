import { randomBytes } from 'node:crypto';
import type { Redis } from 'ioredis';
import { accountAdd, leaseReap, leaseRenew, leaseStart } from '../../../../services/sync/replicas/scripts.ts';
import { expectLifetimes } from '../../../support/redis/lifetime.ts';
import { connectTo, randomPrefix, sharedRedisUrl } from '../../../support/redis/redis.ts';
import { NOW, runScript } from '../../../support/redis/still-clock.ts';

/* Replicas have leases, and one reaper claims a dead one. */

let redis: Redis;

beforeAll(() => {
  redis = connectTo(sharedRedisUrl());
});
afterAll(() => redis.disconnect());

const prefix = randomPrefix();

/** Makes a service in which no replica runs. */
function makeService() {
  const place = `${prefix}:{${randomBytes(5).toString('hex')}}`;
  const on = {
    ...{ replicas: `${place}:replicas`, reaping: `${place}:reaping`, settings: `${place}:settings` },
    ...{ revokedVersion: `${place}:version`, accounts: `${place}:accounts` },
  };
  return {
    keys: on,
    start: (replica: string, settings = '{}') => runScript(redis, leaseStart, [], on, { replica, settings }),
    renew: (replica: string) => runScript(redis, leaseRenew, [], on, { replica }),
    reap: (dead: string, counter: string, newReaper: string, reaper = '') =>
      runScript(redis, leaseReap, [], on, { dead, counter, reaper, newReaper }),
    hold: (account: string) => runScript(redis, accountAdd, [], on, { account }),
    leases: () => redis.hgetall(on.replicas),
    settings: () => redis.hgetall(on.settings),
    reapers: () => redis.hgetall(on.reaping),
  };
}

describe('a replica that starts', () => {
  test('has a lease, which it renews, and learns of the others', async () => {
    const service = makeService();
    await service.start('a');
    await service.start('b');
    await redis.hset(service.keys.reaping, 'dead', 'b');
    const counters = new Map([
      ['a', '2'],
      ['b', '1'],
    ]);
    const reaping = new Map([['dead', 'b']]);
    const renewed = { renewed: true, counters, reaping, revocations: '', atMs: NOW };
    expect(await service.renew('a')).toMatchObject(renewed);
    await redis.set(service.keys.revokedVersion, 'v1');
    expect(await service.renew('a')).toMatchObject({ ...renewed, counters: counters.set('a', '3'), revocations: 'v1' });
  });

  test('writes its settings, and removes those of replicas without a lease', async () => {
    const service = makeService();
    await service.start('a', '{"a":1}');
    await redis.hset(service.keys.settings, 'gone', '{}');
    await service.start('b', '{"b":1}');
    expect(await service.settings()).toEqual({ a: '{"a":1}', b: '{"b":1}' });
  });

  test('lists the accounts that have a stream there, for a week', async () => {
    const service = makeService();
    await expectLifetimes(redis, () => service.hold('u'), { [service.keys.accounts]: 7 * 86_400 });
    await service.hold('v');
    expect((await redis.smembers(service.keys.accounts)).sort()).toEqual(['u', 'v']);
  });
});

test('a replica that lost its lease is told so, and gets no new one', async () => {
  const service = makeService();
  await service.start('a');
  expect(await service.renew('b')).toMatchObject({ renewed: false, counters: new Map([['a', '1']]) });
  expect(await service.leases()).toEqual({ a: '1' });
});

describe('a dead replica', () => {
  test('is claimed by one reaper, and its lease and settings end', async () => {
    const service = makeService();
    await service.start('a');
    await service.start('b');
    expect(await service.reap('a', '1', 'b')).toMatchObject({ claimed: true });
    expect(await service.leases()).toEqual({ b: '1' });
    expect(await service.settings()).toEqual({ b: '{}' });
    expect(await service.reap('a', '1', 'c')).toMatchObject({ claimed: false });
    expect(await service.reapers()).toEqual({ a: 'b' });
  });

  test('is not claimed if it has renewed its lease since', async () => {
    const service = makeService();
    await service.start('a');
    await service.renew('a');
    expect(await service.reap('a', '1', 'b')).toMatchObject({ claimed: false });
    expect(await service.leases()).toEqual({ a: '2' });
    expect(await service.reapers()).toEqual({});
  });

  test.each([
    ['from the reaper that died too', 'b', 'b', false, true],
    ['not from another that has claimed it since', 'd', 'b', false, false],
    ['where the store lost lease and reaper', null, '', false, true],
    ['not where the store lost the reaper, but one was known', null, 'b', false, false],
    ['not while it has a lease', 'b', 'b', true, false],
    ['not while it has a lease and no reaper', null, '', true, false],
  ])('is taken over %s', async (_, present, reaper, hasLease, claimed) => {
    const service = makeService();
    if (hasLease) await service.start('a');
    if (present !== null) await redis.hset(service.keys.reaping, 'a', present);
    expect(await service.reap('a', '', 'c', reaper)).toMatchObject({ claimed });
    expect(await redis.hget(service.keys.reaping, 'a')).toBe(claimed ? 'c' : present);
  });
});
