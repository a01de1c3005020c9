import type { Redis } from 'ioredis';
import { expectLifetimes } from '../../../support/redis/lifetime.ts';
import { connectTo, sharedRedisUrl } from '../../../support/redis/redis.ts';
import { NOW } from '../../../support/redis/still-clock.ts';
import { EXPIRES, makeRequest } from './requests.ts';

/* The new device polls its login request, and one poll gets the session. */

let redis: Redis;

beforeAll(() => {
  redis = connectTo(sharedRedisUrl());
});
afterAll(() => redis.disconnect());

const LEASE_MS = 6_000;
const [OLDER, NEWER] = ['bus:a\npoll 1', 'bus:b\npoll 2'];

describe('a pending request', () => {
  test('has one poll that waits, until a newer one replaces it', async () => {
    const request = makeRequest(redis);
    await request.write();
    const pending = { state: 'pending', expiresAtMs: EXPIRES, replaced: '' };
    expect(await request.poll({ waiter: OLDER })).toMatchObject(pending);
    expect(await request.poll({ waiter: OLDER, isFirst: false })).toMatchObject(pending);
    expect(await request.poll({ waiter: NEWER })).toMatchObject({ ...pending, replaced: OLDER });
    expect(await request.poll({ waiter: OLDER, isFirst: false })).toMatchObject({ ...pending, state: 'superseded' });
    expect(await request.poll({ waiter: NEWER, isFirst: false })).toMatchObject(pending);
    expect(await request.decide()).toMatchObject({ waiter: NEWER });
  });

  test.each([
    ['that does not exist', null],
    ['of another device', { poll: 'other digest' }],
  ])('%s is not found', async (_, fields) => {
    const request = makeRequest(redis);
    if (fields !== null) await request.write(fields);
    await expect(request.poll()).rejects.toMatchObject({ code: 'not_found' });
  });

  test('is over at its end, and keeps nothing of the device', async () => {
    const request = makeRequest(redis);
    await request.write({ expires: NOW, keys: '{}' });
    const poll = () => expect(request.poll()).rejects.toMatchObject({ code: 'login_expired' });
    await expectLifetimes(redis, poll, { [request.keys.login]: 600 });
    expect(await request.stored()).not.toHaveProperty('keys');
    expect(await request.state()).toBe('expired');
    await poll();
  });
});

describe('an approved request', () => {
  test('lets one poll at a time make the session', async () => {
    const request = makeRequest(redis);
    await request.write({ state: 'approved', scope: 'full' });
    const leased = { state: 'leased', expiresAtMs: EXPIRES, fence: '1', login: { scope: 'full', name: 'Phone' } };
    expect(await request.poll()).toMatchObject(leased);
    expect(await redis.hget(request.keys.login, 'lease')).toBe(String(NOW + LEASE_MS));
    expect(await request.poll()).toMatchObject({ state: 'minting', expiresAtMs: EXPIRES });
  });

  test.each([
    [0, 'leased'],
    [1, 'minting'],
  ])('whose lease ends %d ms later is %s', async (inMs, state) => {
    const request = makeRequest(redis);
    await request.write({ state: 'approved', fence: 4, lease: NOW + inMs });
    expect(await request.poll()).toMatchObject({ state, ...(state === 'leased' && { fence: '5' }) });
  });

  test.each([
    [0, 'login_expired'],
    [1, 'minting'],
  ])('that is over does not expire while a session is made from it, which ends %d ms later: %s', async (inMs, end) => {
    const request = makeRequest(redis);
    await request.write({ state: 'approved', expires: NOW - 1, lease: NOW + inMs });
    if (end === 'minting') expect(await request.poll()).toMatchObject({ state: end });
    else await expect(request.poll()).rejects.toMatchObject({ code: end });
  });

  test('is over at its end', async () => {
    const request = makeRequest(redis);
    await request.write({ state: 'approved', expires: NOW });
    await expect(request.poll()).rejects.toMatchObject({ code: 'login_expired' });
  });

  test('is consumed once, and keeps nothing of what it granted', async () => {
    const request = makeRequest(redis);
    await request.write({ state: 'approved', sealed: 'grant', keys: '{}' });
    await request.poll();
    const finish = async () => expect(await request.finish('1', 'consumed')).toMatchObject({ done: true });
    await expectLifetimes(redis, finish, { [request.keys.login]: 600 });
    expect(await request.state()).toBe('consumed');
    for (const gone of ['sealed', 'keys', 'lease', 'name']) expect(await request.stored()).not.toHaveProperty(gone);
    await finish();
    expect(await request.finish('1', 'denied')).toMatchObject({ done: false });
    await expect(request.poll()).rejects.toMatchObject({ code: 'login_consumed' });
    expect(await request.state()).toBe('consumed');
  });

  test('is denied where its approver may not approve any more', async () => {
    const request = makeRequest(redis);
    await request.write({ state: 'approved' });
    await request.poll();
    expect(await request.finish('1', 'denied')).toMatchObject({ done: true });
    await expect(request.poll()).rejects.toMatchObject({ code: 'access_denied' });
  });

  test('that could not be consumed goes to the next poll', async () => {
    const request = makeRequest(redis);
    await request.write({ state: 'approved' });
    await request.poll();
    expect(await request.finish('1', 'approved')).toMatchObject({ done: true });
    expect(await request.finish('1', 'approved')).toMatchObject({ done: true });
    expect(await request.poll()).toMatchObject({ state: 'leased', fence: '2' });
    expect(await request.finish('1', 'consumed')).toMatchObject({ done: false });
    expect(await request.state()).toBe('approved');
    expect(await request.finish('2', 'consumed')).toMatchObject({ done: true });
  });
});

test('a request that is gone cannot be ended', async () => {
  const request = makeRequest(redis);
  expect(await request.finish('1', 'consumed')).toMatchObject({ done: false });
  expect(await request.stored()).toEqual({});
});
