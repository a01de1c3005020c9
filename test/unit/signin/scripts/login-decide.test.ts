import type { Redis } from 'ioredis';
import { LIMITS } from '../../../../shared/contract/limits.ts';
import { expectLifetimes } from '../../../support/redis/lifetime.ts';
import { connectTo, sharedRedisUrl } from '../../../support/redis/redis.ts';
import { NOW } from '../../../support/redis/still-clock.ts';
import { CREATED, EXPIRES, makeRequest, TOMBSTONE, TTL_MS } from './requests.ts';

/* The holder of its code reads and decides a login request. */

let redis: Redis;

beforeAll(() => {
  redis = connectTo(sharedRedisUrl());
});
afterAll(() => redis.disconnect());

type Request = ReturnType<typeof makeRequest>;

/** Two scripts take a code. They judge it alike. */
const BY_CODE: [string, (request: Request, codeDigest?: string) => Promise<object>][] = [
  ['read', (request, codeDigest = 'code digest') => request.read({ codeDigest })],
  ['decide', (request, codeDigest = 'code digest') => request.decide({ codeDigest })],
];

describe('a request is approved', () => {
  test('with what it grants, for no longer than it lives, and its poll is told', async () => {
    const request = makeRequest(redis);
    await request.write({ waiter: 'bus:a\np1', keys: '{}' });
    await redis.pexpire(request.keys.login, 5_000_000);
    const before = await redis.pexpiretime(request.keys.login);
    const fields = { user: 'u', scope: 'guest', sealed: 'grant' };
    expect(await request.decide({ fields })).toMatchObject({ outcome: 'decided', waiter: 'bus:a\np1' });
    expect(await request.stored()).toMatchObject({ state: 'approved', approved_at: String(NOW), ...fields });
    expect(await redis.pexpiretime(request.keys.login)).toBe(before);
  });

  test('once: the same call again has the first answer, and another is too late', async () => {
    const request = makeRequest(redis);
    await request.write({ waiter: 'bus:a\np1', inviter: 'ann' });
    const decided = { outcome: 'decided', waiter: 'bus:a\np1', inviter: 'ann' };
    expect(await request.decide()).toMatchObject(decided);
    expect(await request.decide()).toMatchObject(decided);
    await expect(request.decide({ operation: 'op2' })).rejects.toMatchObject({ code: 'already_decided' });
    const late = request.decide({ operation: 'op2', decision: 'denied' });
    await expect(late).rejects.toMatchObject({ code: 'already_decided' });
    expect(await request.state()).toBe('approved');
  });

  test('once, also when the call comes again after the device has its session', async () => {
    const request = makeRequest(redis);
    await request.write();
    await request.decide();
    await request.poll();
    await request.finish('1', 'consumed');
    expect(await request.decide()).toMatchObject({ outcome: 'decided' });
    await expect(request.decide({ operation: 'op2' })).rejects.toMatchObject({ code: 'login_consumed' });
  });

  test.each([
    ['a native device as a guest', { type: 'macos' }, { scope: 'guest' }, 'scope_not_allowed'],
    ['a native device in full', { type: 'macos' }, { scope: 'full' }, null],
    ['a browser as a guest', { type: 'browser' }, { scope: 'guest' }, null],
    ['a shortcut as a guest', { type: 'shortcut' }, { scope: 'guest' }, null],
    ['a native device that is signed in as a guest', { type: 'macos', owner: 'u' }, { scope: 'guest' }, null],
    ['a device without keys, with something sealed for it', {}, { scope: 'full', sealed: 'x' }, 'invalid_request'],
    ['a device with keys, with something sealed for it', { keys: '{}' }, { scope: 'full', sealed: 'x' }, null],
    ['a device with keys, with nothing sealed', { keys: '{}' }, { scope: 'full' }, null],
  ] as [string, Record<string, string>, Record<string, string>, string | null][])(
    'for %s',
    async (_, asked, fields, code) => {
      const request = makeRequest(redis);
      await request.write(asked);
      const approval = request.decide({ fields });
      if (code === null) expect(await approval).toMatchObject({ outcome: 'decided' });
      else await expect(approval).rejects.toMatchObject({ code });
      expect(await request.state()).toBe(code === null ? 'approved' : 'pending');
    },
  );
});

describe('a request is denied', () => {
  test('without its code, and keeps nothing but who may hear of it, for ten minutes', async () => {
    const request = makeRequest(redis);
    await request.write({ type: 'macos', keys: '{}', waiter: 'bus:a\np1' });
    const denied = { decision: 'denied', codeDigest: '', fields: {} } as const;
    await expectLifetimes(redis, () => request.decide(denied), { [request.keys.login]: 600 });
    expect(Object.keys(await request.stored()).sort()).toEqual(TOMBSTONE);
    expect(await request.state()).toBe('denied');
    await expect(request.poll()).rejects.toMatchObject({ code: 'access_denied' });
    await expect(request.poll({ pollDigest: 'other' })).rejects.toMatchObject({ code: 'not_found' });
  });

  test('not where there is none, and nothing comes to be', async () => {
    const request = makeRequest(redis);
    const denied = request.decide({ decision: 'denied', codeDigest: '', fields: {} });
    await expect(denied).rejects.toMatchObject({ code: 'not_found' });
    expect(await request.stored()).toEqual({});
  });

  test('also a native one that was asked to be a guest', async () => {
    const request = makeRequest(redis);
    await request.write({ type: 'macos', waiter: 'bus:a\np1' });
    expect(await request.decide({ decision: 'denied', fields: { scope: 'guest' } })).toMatchObject({
      waiter: 'bus:a\np1',
    });
    expect(await request.state()).toBe('denied');
  });

  test('once: the same call again has the first answer, and another is too late', async () => {
    const request = makeRequest(redis);
    await request.write();
    await request.decide({ decision: 'denied' });
    expect(await request.decide({ decision: 'denied' })).toMatchObject({ outcome: 'decided', waiter: '', inviter: '' });
    await expect(request.decide({ operation: 'op2' })).rejects.toMatchObject({ code: 'already_decided' });
    await expect(request.read()).rejects.toMatchObject({ code: 'already_decided' });
  });
});

describe('a request is read', () => {
  test('with what the device said of itself', async () => {
    const request = makeRequest(redis);
    await request.write();
    const found = await request.read();
    expect(found).toMatchObject({ outcome: 'read', nowMs: NOW, login: { name: 'Phone', expires: String(EXPIRES) } });
    expect(found).toMatchObject({ login: { state: 'pending', code: 'code digest' } });
  });

  test('not any more when it is approved', async () => {
    const request = makeRequest(redis);
    await request.write({ state: 'approved' });
    await expect(request.read()).rejects.toMatchObject({ code: 'already_decided' });
  });
});

describe.each(BY_CODE)('to %s a request', (_name, act) => {
  test('is not possible where there is none', async () => {
    await expect(act(makeRequest(redis))).rejects.toMatchObject({ code: 'not_found' });
  });

  test('of a device that is signed in, one has to be of its account', async () => {
    const request = makeRequest(redis);
    await request.write({ owner: 'v' });
    await expect(act(request)).rejects.toMatchObject({ code: 'not_found' });
    await request.write({ owner: 'u' });
    expect(await act(request)).not.toMatchObject({ outcome: 'limited' });
  });

  test.each([
    ['login_expired', { expires: NOW }, 'expired'],
    ['login_expired', { state: 'approved', expires: NOW }, 'expired'],
    ['login_consumed', { state: 'consumed', expires: NOW }, 'consumed'],
    ['already_decided', { state: 'denied', expires: NOW }, 'denied'],
    ['login_expired', { state: 'expired', expires: NOW }, 'expired'],
  ] as [string, Record<string, string | number>, string][])('that is over is %s: %j', async (code, fields, state) => {
    const request = makeRequest(redis);
    await request.write(fields);
    await expect(act(request)).rejects.toMatchObject({ code });
    expect(await request.state()).toBe(state);
  });

  test('that lives for one more millisecond is possible', async () => {
    const request = makeRequest(redis);
    await request.write({ expires: NOW + 1 });
    expect(await act(request)).not.toMatchObject({ outcome: 'limited' });
  });

  test('with a wrong code is as if it did not exist', async () => {
    const request = makeRequest(redis);
    await request.write();
    await expect(act(request, 'wrong')).rejects.toMatchObject({ code: 'not_found' });
    expect(await request.state()).toBe('pending');
  });

  test.each([
    ['before a last wrong code', {}, LIMITS.wrongCodes - 1, 'taken'],
    ['after as many wrong codes as are allowed', {}, LIMITS.wrongCodes, 'limited'],
    ['that is approved, after as many wrong codes', { state: 'approved' }, LIMITS.wrongCodes, 'limited'],
    ['that is denied, after as many wrong codes', { state: 'denied' }, LIMITS.wrongCodes, 'already_decided'],
    ['that has just expired, after as many wrong codes', { expires: NOW }, LIMITS.wrongCodes, 'login_expired'],
  ])('%s', async (_, fields, count, outcome) => {
    const request = makeRequest(redis);
    await request.write(fields);
    await redis.sadd(request.keys.tries, ...Array.from({ length: count }, (__, i) => `wrong ${i}`));
    const limited = { outcome: 'limited', leftMs: EXPIRES - NOW, lifeMs: EXPIRES - CREATED };
    if (outcome === 'taken') expect(await act(request)).not.toMatchObject({ outcome: 'limited' });
    else if (outcome === 'limited') expect(await act(request)).toMatchObject(limited);
    else await expect(act(request)).rejects.toMatchObject({ code: outcome });
  });
});

describe('wrong codes', () => {
  const wrong = (operation: string, tries = 1) => ({ codeDigest: 'wrong', operation, tries });

  test('of decisions are counted until the request ends, and a call that comes again counts once', async () => {
    const request = makeRequest(redis);
    await request.write();
    await expect(request.decide(wrong('op1'))).rejects.toMatchObject({ code: 'not_found' });
    await expect(request.decide(wrong('op1'))).rejects.toMatchObject({ code: 'not_found' });
    expect(await request.decide(wrong('op2'))).toMatchObject({ outcome: 'limited', leftMs: EXPIRES - NOW });
    expect(await redis.pexpiretime(request.keys.tries)).toBe(EXPIRES);
    expect(await request.state()).toBe('pending');
  });

  test.each([
    ['of a request that has ended', { state: 'consumed' }, 1],
    ['where they are not limited', {}, 0],
  ])('%s are not counted', async (_, fields, tries) => {
    const request = makeRequest(redis);
    await request.write(fields);
    await redis.sadd(request.keys.tries, 'op0');
    await expect(request.decide(wrong('op1', tries))).rejects.toMatchObject({ code: 'not_found' });
    expect(await redis.smembers(request.keys.tries)).toEqual(['op0']);
  });

  test('of reads are not counted', async () => {
    const request = makeRequest(redis);
    await request.write();
    await expect(request.read({ codeDigest: 'wrong' })).rejects.toMatchObject({ code: 'not_found' });
    expect(await redis.exists(request.keys.tries)).toBe(0);
  });
});

test('a new request lives for its time, and then another ten minutes for those who ask for it', async () => {
  const request = makeRequest(redis);
  expect(await request.start()).toMatchObject({ createdAtMs: NOW, expiresAtMs: NOW + TTL_MS });
  expect(await redis.pexpiretime(request.keys.login)).toBe(NOW + TTL_MS + 600_000);
  expect(await request.read()).toMatchObject({
    login: { created: String(NOW), expires: String(NOW + TTL_MS), name: 'Phone' },
  });
  await request.decide();
  expect(await request.poll()).toMatchObject({ state: 'leased', fence: '1' });
});
