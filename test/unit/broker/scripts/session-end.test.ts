import { randomBytes } from 'node:crypto';
import type { Redis } from 'ioredis';
import { keysAdd, keysSeal } from '../../../../services/broker/keyring/scripts.ts';
import { connectTo, randomPrefix, sharedRedisUrl } from '../../../support/redis/redis.ts';
import { NOW, runScript } from '../../../support/redis/still-clock.ts';
import { KEEP_MS, makeAccount, TTL_MS } from './sessions.ts';

/* Sessions begin with a login, are listed and revoked. Keys sign their access tokens. */

let redis: Redis;

beforeAll(() => {
  redis = connectTo(sharedRedisUrl());
});
afterAll(() => redis.disconnect());

test('a login opens a session without a device, and removes ended ones from the lists', async () => {
  const account = makeAccount(redis);
  await redis.zadd(account.lists.index, NOW, `${account.idOf(5)} tv`);
  const opened = {
    ...{ sessionId: account.idOf(1), app: 'baton', subject: account.subject, meta: '', label: '', scope: 'full' },
    ...{ persist: 'once', createdAtMs: NOW, lastActiveAtMs: NOW, endsAtMs: NOW + TTL_MS, name: 'Ada', roles: 'admin' },
  };
  expect(await account.open(1)).toMatchObject(opened);
  expect(await account.use(1, 'd-1')).toMatchObject(opened);
  expect(await account.stored(1)).toMatchObject({ sliding: '0', ttl: String(TTL_MS) });
  expect(await account.index()).toEqual([`${account.idOf(1)} `, String(NOW + TTL_MS)]);
  expect(await account.metas()).toEqual({});
});

test('an ended session without a device leaves the list', async () => {
  const account = makeAccount(redis);
  await redis.zadd(account.lists.index, NOW - 1, `${account.idOf(5)} `);
  await redis.hset(account.lists.metas, '', account.idOf(5), 'tv', account.idOf(6));
  await account.open(1);
  expect(await account.index()).toEqual([`${account.idOf(1)} `, String(NOW + TTL_MS)]);
  expect(await account.metas()).toMatchObject({ tv: account.idOf(6) });
});

describe('a session is revoked', () => {
  test('once, and stays known for a day', async () => {
    const account = makeAccount(redis);
    await account.session(1);
    expect(await account.revoke(1, { reason: 'logout' })).toMatchObject({ ended: true });
    expect(await account.stored(1)).toMatchObject({ revoked: 'logout' });
    expect(await account.stored(1)).not.toHaveProperty('secret');
    expect(await redis.pexpiretime(account.sessionKey(1))).toBe(NOW + KEEP_MS);
    expect(await account.index()).toEqual([`${account.idOf(1)} phone`, String(NOW + KEEP_MS)]);
    expect(await account.revoke(1, { reason: 'removed' })).toMatchObject({ ended: false });
    expect(await account.stored(1)).toMatchObject({ revoked: 'logout' });
    await expect(account.use(1, 'd-3')).rejects.toMatchObject({ code: 'session_revoked' });
  });

  test.each([
    ['is unknown', null, {}],
    ['is of another app', {}, { app: 'other' }],
    ['is of another account', {}, { of: 'other' }],
  ])('not if it %s', async (_, fields, args) => {
    const account = makeAccount(redis);
    if (fields !== null) await account.session(1, fields);
    await expect(account.revoke(1, args)).rejects.toMatchObject({ code: 'not_found' });
    expect(await account.stored(1)).not.toHaveProperty('revoked');
  });
});

test('sessions are listed in pages by their end', async () => {
  const account = makeAccount(redis);
  for (const [n, inMs] of [-1, 0, 1, 2, 3].entries()) await account.session(n, { ends: NOW + inMs, meta: `m${n}` });
  const entry = (n: number) => ({ sessionId: account.idOf(n), endsAtMs: NOW + n - 1 });
  expect(await account.page(0, 3)).toEqual([entry(1), entry(2), entry(3)]);
  expect(await account.page(NOW + 2)).toEqual([entry(3), entry(4)]);
});

describe('keys that sign', () => {
  const prefix = randomPrefix();
  const makeRing = () => {
    const on = { signingKeys: `${prefix}:{${randomBytes(5).toString('hex')}}` };
    return {
      add: (newest: string, key: string) => runScript(redis, keysAdd, [], on, { newest, key, stored: `stored ${key}` }),
      seal: (before: string) => runScript(redis, keysSeal, [], on, { key: 'k1', before, stored: 'sealed' }),
      stored: () => redis.hgetall(on.signingKeys),
    };
  };

  test('are added one after the other', async () => {
    const ring = makeRing();
    expect(await ring.add('k0', 'k1')).toMatchObject({ added: false });
    expect(await ring.add('', 'k1')).toMatchObject({ added: true });
    expect(await ring.add('', 'k2')).toMatchObject({ added: false });
    expect(await ring.add('k1', 'k2')).toMatchObject({ added: true });
    expect(await ring.stored()).toEqual({ newest: 'k2', k1: 'stored k1', k2: 'stored k2' });
  });

  test('are sealed unless they have changed meanwhile', async () => {
    const ring = makeRing();
    await ring.add('', 'k1');
    expect(await ring.seal('other')).toMatchObject({ sealed: false });
    expect(await ring.stored()).toMatchObject({ k1: 'stored k1' });
    expect(await ring.seal('stored k1')).toMatchObject({ sealed: true });
    expect(await ring.stored()).toEqual({ newest: 'k1', k1: 'sealed' });
  });
});
