import { randomBytes } from 'node:crypto';
import type { Redis } from 'ioredis';
import { BUS } from '../../../../services/sync/redis/bus/payloads.ts';
import { makeKeys } from '../../../../services/sync/redis/keys.ts';
import { accountErase, jobPutOff, revokedAdd, TOMBSTONE_MS } from '../../../../services/sync/sessions/scripts.ts';
import { expectLifetimes } from '../../../support/redis/lifetime.ts';
import { connectTo, randomPrefix, sharedRedisUrl } from '../../../support/redis/redis.ts';
import { NOW, runScript } from '../../../support/redis/still-clock.ts';

/* Devices are signed out, and accounts are erased. */

let redis: Redis;

beforeAll(() => {
  redis = connectTo(sharedRedisUrl());
});
afterAll(() => redis.disconnect());

const prefix = randomPrefix();
const keys = makeKeys(prefix);

describe('who was signed out', () => {
  function makeList() {
    const place = `${prefix}:{${randomBytes(5).toString('hex')}}`;
    const on = { revoked: `${place}:revoked`, version: `${place}:version` };
    return {
      keys: on,
      add: (...tombstones: string[]) => runScript(redis, revokedAdd, [], on, { tombstones }),
      list: () => redis.zrange(on.revoked, '0', '-1', 'WITHSCORES'),
    };
  }

  test('is listed from now on, or from when it was, in a new version of the list', async () => {
    const list = makeList();
    const { version, nowMs } = await list.add('u a', '0', 'u b', String(NOW - 5), 'u c', '0');
    expect(await list.list()).toEqual(['u b', String(NOW - 5), 'u a', String(NOW), 'u c', String(NOW)]);
    expect(nowMs).toBe(NOW);
    expect(version).toMatch(new RegExp(`^${NOW}-\\d+$`));
    expect(await redis.get(list.keys.version)).toBe(version);
  });

  test.each([
    [5, NOW + 6],
    [0, NOW + 1],
    [-1, NOW],
    [-5, NOW],
  ])('is listed in a version above the last one, which is %d ms from now', async (inMs, next) => {
    const list = makeList();
    await redis.set(list.keys.version, `${NOW + inMs}-77`);
    expect((await list.add('u a', '0')).version).toMatch(new RegExp(`^${next}-\\d+$`));
  });

  test('stays listed until nobody can have its token any more, with its first time', async () => {
    const list = makeList();
    await redis.zadd(list.keys.revoked, NOW - TOMBSTONE_MS, 'u old', NOW - TOMBSTONE_MS + 1, 'u late');
    await list.add('u late', '0');
    expect(await list.list()).toEqual(['u late', String(NOW - TOMBSTONE_MS + 1)]);
    await redis.zadd(list.keys.revoked, NOW - TOMBSTONE_MS, 'u late');
    await list.add('u late', '0');
    expect(await list.list()).toEqual(['u late', String(NOW)]);
  });
});

test('a job is put off', async () => {
  const on = keys.inAccount(`u${randomBytes(5).toString('hex')}`);
  await redis.zadd(on.due, NOW - 5, 'revoke:s1', NOW - 4, 'revoke:s2');
  await runScript(redis, jobPutOff, [], on, { job: 'revoke:s1', delayMs: 7 });
  expect(await redis.zrange(on.due, '0', '-1', 'WITHSCORES')).toEqual([
    ...['revoke:s2', String(NOW - 4)],
    ...['revoke:s1', String(NOW + 7)],
  ]);
});

describe('an account is erased', () => {
  async function makeAccount() {
    const name = `u${randomBytes(5).toString('hex')}`;
    const on = keys.inAccount(name);
    await redis.hset(on.routes, 's1', ['bus:a', 'phone', 1, NOW, NOW, 0].join('\n'));
    await redis.xadd(on.log, `${NOW - 5}-1`, 'p', '', 'e', 'message', 't', '*', 'd', '{}', 's', '2');
    await redis.hset(on.presence, { v: NOW - 5, phone: `1${NOW - 5}` });
    await redis.hset(on.devices, 'phone', 'Phone\n');
    await redis.hset(on.mail, 'm1', 'text');
    await redis.zadd(on.inbox, 0, 'phone:1-1:m1');
    await redis.set(on.clipboard, 'text');
    const erase = () => runScript(redis, accountErase, [], on, {});
    return { name, keys: on, erase };
  }

  test('with all that was kept, and its open streams read their state again', async () => {
    const account = await makeAccount();
    const { announced } = await account.erase();
    const { devices, mail, inbox, clipboard, routes, log, presence } = account.keys;
    expect(await redis.exists(devices, mail, inbox, clipboard)).toBe(0);
    expect(await redis.exists(routes)).toBe(1);
    const entries = await redis.xrange(log, '-', '+');
    expect(entries.map(([, fields]) => fields.slice(0, 8))).toEqual([['p', '', 'e', '', 't', '', 'd', '']]);
    const [[top] = ['']] = entries;
    expect(await redis.hgetall(presence)).toEqual({ v: String(NOW) });
    expect(announced).toEqual([
      { channel: 'bus:a', label: 'erased', payload: [BUS.top, account.name, top].join('\n') },
      { channel: 'bus:a', label: 'presence', payload: [BUS.presence, account.name, NOW].join('\n') },
    ]);
  });

  test('and the version of its presence rises, for 90 days from then on', async () => {
    const account = await makeAccount();
    await redis.hset(account.keys.presence, 'v', NOW + 5);
    await expectLifetimes(redis, account.erase, { [account.keys.presence]: 90 * 86_400 });
    expect(await redis.hget(account.keys.presence, 'v')).toBe(String(NOW + 6));
  });

  test.each([
    ['which end sessions, transfers and rings', 2],
    ['where there is no transfer', 0],
  ])('but for the jobs %s', async (_, transfers) => {
    const account = await makeAccount();
    const jobs = ['revoke:s1', 'claim:phone', 'keys:account', ...['transfer:t1', 'transfer:t2'].slice(0, transfers)];
    const kept = jobs.flatMap((job, i) => [job, String(NOW + 10 * i)]);
    for (const [i, job] of jobs.entries()) await redis.zadd(account.keys.due, NOW + 10 * i, job);
    for (const inMs of [1, 5, 11]) await redis.zadd(account.keys.due, NOW + inMs, `push:web:test:phone:${inMs}`);
    expect(await account.erase()).toMatchObject({ transfers });
    expect(await redis.zrange(account.keys.due, '0', '-1', 'WITHSCORES')).toEqual(kept);
  });
});
