import type { Redis } from 'ioredis';
import { expectLifetimes } from '../../../support/redis/lifetime.ts';
import { connectTo, sharedRedisUrl } from '../../../support/redis/redis.ts';
import { NOW } from '../../../support/redis/still-clock.ts';
import { GRACE_MS, KEEP_MS, makeAccount, REPLAY_SECONDS, TTL_MS } from './sessions.ts';

let redis: Redis;

beforeAll(() => {
  redis = connectTo(sharedRedisUrl());
});
afterAll(() => redis.disconnect());

const ENDS = NOW + TTL_MS;
const other = { idempotencyKey: 'second' };

describe('a session is minted', () => {
  test('for a device without one', async () => {
    const account = makeAccount(redis);
    const made = {
      ...{ sessionId: account.idOf(9), app: 'baton', subject: account.subject, meta: 'phone', label: 'Phone' },
      ...{ scope: 'full', persist: 'persist', createdAtMs: NOW, lastActiveAtMs: NOW, endsAtMs: ENDS, epoch: 0 },
    };
    const mint = async () =>
      expect(await account.mint(0)).toMatchObject({ outcome: 'minted', ...made, created: true, keyId: 'key1' });
    await expectLifetimes(redis, mint, { [account.mintKey()]: REPLAY_SECONDS });
    expect(await account.use(9, 'd-new')).toMatchObject(made);
    expect(await account.index()).toEqual([`${account.idOf(9)} phone`, String(ENDS)]);
    expect(await account.metas()).toEqual({ phone: account.idOf(9) });
    expect(await redis.pexpiretime(account.sessionKey(9))).toBe(ENDS + KEEP_MS);
    for (const key of [account.lists.index, account.lists.metas])
      expect(await redis.pexpiretime(key)).toBe(ENDS + KEEP_MS);
  });

  test('for a device that another call gave one meanwhile, which the caller is told', async () => {
    const account = makeAccount(redis);
    await account.session(1);
    expect(await account.mint(0)).toMatchObject({ outcome: 'moved', sessionId: account.idOf(1) });
    await account.session(2);
    expect(await account.mint(1)).toMatchObject({ outcome: 'moved', sessionId: account.idOf(2) });
    await redis.del(account.lists.metas);
    expect(await account.mint(2)).toMatchObject({ outcome: 'moved', sessionId: '' });
  });

  test.each([
    ['that has ended', { ends: NOW }],
    ['that was revoked', { revoked: 'logout' }],
  ])('anew in place of one %s', async (_, fields) => {
    const account = makeAccount(redis);
    await account.session(1, fields);
    if ('revoked' in fields) await redis.zadd(account.lists.index, NOW + KEEP_MS, `${account.idOf(1)} phone`);
    expect(await account.mint(1)).toMatchObject({
      sessionId: account.idOf(9),
      created: true,
      createdAtMs: NOW,
      epoch: 0,
    });
    expect(await account.index()).toEqual([`${account.idOf(9)} phone`, String(ENDS)]);
    expect(await account.metas()).toEqual({ phone: account.idOf(9) });
    await account.use(9, 'd-new');
  });

  test('by rotation of the one that is there, which ends all earlier secrets at once', async () => {
    const account = makeAccount(redis);
    await account.session(1, { retired: `d-1:${NOW + GRACE_MS} d-2:` });
    const rotated = { sessionId: account.idOf(1), label: 'New', createdAtMs: NOW - 90_000, lastActiveAtMs: NOW };
    expect(await account.mint(1, { label: 'New' })).toMatchObject({ ...rotated, endsAtMs: ENDS, created: false });
    for (const digest of ['d-1', 'd-2', 'd-3', 'd-0']) {
      await expect(account.use(1, digest)).rejects.toMatchObject({ code: 'session_expired' });
    }
    expect(await account.use(1, 'd-new')).toMatchObject({ label: 'New', endsAtMs: ENDS });
    await expect(account.use(1, 'd-3')).rejects.toMatchObject({ code: 'session_expired' });
    const back = account.mint(1, { digest: 'd-3' }, other);
    await expect(back).rejects.toMatchObject({ code: 'already_decided' });
    await account.use(1, 'd-new');
  });

  test.each([
    ['stays with the scope', '3', 'full', 3],
    ['rises with another scope', '3', 'guest', 4],
    ['begins at 0 in a session of an older broker', '', 'full', 0],
    ['rises to 1 there with another scope', '', 'guest', 1],
  ])('with an epoch that %s', async (_, before, scope, epoch) => {
    const account = makeAccount(redis);
    await account.session(1, { epoch: before });
    if (before === '') await redis.hdel(account.sessionKey(1), 'epoch');
    expect(await account.mint(1, { scope })).toMatchObject({ scope, epoch });
    expect(await account.use(1, '')).toMatchObject({ scope, epoch, persist: 'persist' });
    expect(await account.stored(1)).toMatchObject({ epoch: String(epoch), sliding: '1', ttl: String(TTL_MS) });
  });

  test('and ended sessions leave the lists, but not the newer session of their device', async () => {
    const account = makeAccount(redis);
    const [first, second, third] = [account.idOf(1), account.idOf(2), account.idOf(3)];
    await redis.zadd(account.lists.index, NOW - 1, `${first} tablet`, NOW, `${second} old tv`, NOW + 1, `${third} tv`);
    await redis.hset(account.lists.metas, { tablet: 'another', 'old tv': second, tv: third });
    await account.mint(0);
    expect(await account.index()).toEqual([`${third} tv`, String(NOW + 1), `${account.idOf(9)} phone`, String(ENDS)]);
    expect(await account.metas()).toEqual({ tablet: 'another', tv: third, phone: account.idOf(9) });
  });

  test('and the lists live for as long as the session that ends last', async () => {
    const account = makeAccount(redis);
    await redis.hset(account.lists.user, 'name', 'Ada', 'roles', 'admin');
    const later = NOW + 90 * KEEP_MS;
    await redis.hset(account.lists.metas, 'tv', 'x');
    await redis.pexpireat(account.lists.metas, later);
    await redis.pexpireat(account.lists.user, NOW);
    expect(await account.mint(0)).toMatchObject({ name: 'Ada', roles: 'admin' });
    expect(await redis.pexpiretime(account.lists.metas)).toBe(later);
    expect(await redis.pexpiretime(account.lists.user)).toBe(ENDS + KEEP_MS);
  });
});

describe('a repeated key', () => {
  test('has its first result while that is the present state', async () => {
    const account = makeAccount(redis);
    await account.mint(0);
    const again = await account.mint(9, { label: 'Other', digest: 'd-other', keyId: 'key2' }, { next: 8 });
    expect(again).toMatchObject({ sessionId: account.idOf(9), label: 'Phone', created: true, keyId: 'key1' });
    await account.use(9, 'd-new');
    await account.mint(9, { digest: 'd-4' }, other);
    expect(await account.mint(9, {}, other)).toMatchObject({ created: false, keyId: 'key1' });
  });

  test.each([{ scope: 'guest' }, { persist: 'once' }])('is refused for something else: %j', async (args) => {
    const account = makeAccount(redis);
    await account.mint(0);
    await expect(account.mint(9, args)).rejects.toMatchObject({ code: 'idempotency_key_reused' });
  });

  test('is refused for another device', async () => {
    const account = makeAccount(redis);
    await account.mint(0);
    await expect(account.mint(0, { meta: 'tablet' })).rejects.toMatchObject({ code: 'idempotency_key_reused' });
  });

  test.each([
    ['its secret was replaced', { secret: 'd-4' }],
    ['its session has ended', { ends: NOW }],
    ['its session was revoked', { revoked: 'logout' }],
  ])('is refused where %s', async (_, fields) => {
    const account = makeAccount(redis);
    await account.mint(0);
    await redis.hset(account.sessionKey(9), fields);
    await expect(account.mint(9)).rejects.toMatchObject({ code: 'already_decided' });
  });

  test('is refused where its device has another session', async () => {
    const account = makeAccount(redis);
    await account.mint(0);
    await account.session(1, { secret: 'd-new' });
    await expect(account.mint(1)).rejects.toMatchObject({ code: 'already_decided' });
  });

  test.each(['d-1', 'd-2', 'd-3'])('that has expired gives its secret to nobody again: %s', async (digest) => {
    const account = makeAccount(redis);
    await account.session(1, { retired: `d-1:0 d-2:${NOW}` });
    await expect(account.mint(1, { digest })).rejects.toMatchObject({ code: 'already_decided' });
    expect(await account.stored(1)).toMatchObject({ secret: 'd-3' });
  });
});
