import type { Redis } from 'ioredis';
import { connectTo, sharedRedisUrl } from '../../../support/redis/redis.ts';
import { NOW } from '../../../support/redis/still-clock.ts';
import { GRACE_MS, KEEP_MS, makeAccount, TTL_MS } from './sessions.ts';

/* A session has one present secret, and earlier ones for a while. */

let redis: Redis;

beforeAll(() => {
  redis = connectTo(sharedRedisUrl());
});
afterAll(() => redis.disconnect());

type Account = ReturnType<typeof makeAccount>;

/** Two scripts take a secret. They judge it alike. */
const BY_SECRET: [string, (account: Account, digest: string) => Promise<object>][] = [
  ['use', (account, digest) => account.use(1, digest)],
  ['rotate', (account, digest) => account.rotate(1, digest, ['d-0', 'd-9'])],
];

describe.each(BY_SECRET)('to %s a session', (_name, act) => {
  test.each([
    ['is unknown', null, 'session_expired'],
    ['has ended', { ends: NOW }, 'session_expired'],
    ['is of another app', { app: 'other' }, 'session_expired'],
    ['was revoked', { revoked: 'logout' }, 'session_revoked'],
    ['was revoked because of reuse', { revoked: 'reuse_detected' }, 'reuse_detected'],
  ])('that %s is refused', async (_, fields, code) => {
    const account = makeAccount(redis);
    if (fields !== null) await account.session(1, fields);
    await expect(act(account, 'd-3')).rejects.toMatchObject({ code });
  });

  test.each([
    ['d-3', 'the present one'],
    ['d-1', 'one that is in its grace'],
    ['d-2', 'one that was replaced by one that nobody has used'],
  ])('with %s is allowed: it is %s', async (digest) => {
    const account = makeAccount(redis);
    await account.session(1, { ends: NOW + 1, retired: `d-1:${NOW + 1} d-2:` });
    expect(await act(account, digest)).toMatchObject({ sessionId: account.idOf(1) });
    expect(await account.stored(1)).not.toHaveProperty('revoked');
  });

  test.each([
    ['d-4', 'unknown'],
    ['d-1', 'ended by a mint'],
  ])('with %s is refused, and the session goes on: it is %s', async (digest) => {
    const account = makeAccount(redis);
    await account.session(1, { retired: 'd-1:0 d-2:' });
    await expect(act(account, digest)).rejects.toMatchObject({ code: 'session_expired' });
    await account.use(1, 'd-3');
  });

  test('with one whose grace is over ends the session for everybody, for good', async () => {
    const account = makeAccount(redis);
    await account.session(1, { retired: `d-1:${NOW} d-2:` });
    await expect(act(account, 'd-1')).rejects.toMatchObject({ code: 'reuse_detected' });
    await expect(act(account, 'd-3')).rejects.toMatchObject({ code: 'reuse_detected' });
    for (const gone of ['secret', 'retired', 'unused']) expect(await account.stored(1)).not.toHaveProperty(gone);
    expect(await redis.pexpiretime(account.sessionKey(1))).toBe(NOW + KEEP_MS);
  });
});

describe('the first use of a secret', () => {
  const retiredOf = async (account: Account) => (await account.stored(1))['retired'];
  const late = NOW + GRACE_MS;

  test.each([
    ['that is the present one', 'd-3', 'd-1:5000000000000 d-2:', `d-1:5000000000000 d-2:${late}`],
    ['that is the only one', 'd-3', '', ''],
    ['that is retired', 'd-2', 'd-1: d-2:', `d-1:${late} d-2:`],
    ['that is the oldest', 'd-1', 'd-1: d-2:', 'd-1: d-2:'],
  ])('%s starts the grace of those before', async (_, digest, retired, then) => {
    const account = makeAccount(redis);
    await account.session(1, { unused: '1', retired });
    await account.use(1, digest);
    expect(await retiredOf(account)).toBe(then);
    expect(await account.stored(1)).toMatchObject({ unused: digest === 'd-3' ? '0' : '1' });
  });

  test('starts it once', async () => {
    const account = makeAccount(redis);
    await account.session(1, { retired: 'd-2:' });
    await account.use(1, 'd-3');
    expect(await retiredOf(account)).toBe('d-2:');
  });
});

describe('a session is rotated', () => {
  const NEXT = ['d-0', 'd-4', 'd-5'];

  test('to the secret that follows from the present one, and both can be used', async () => {
    const account = makeAccount(redis);
    await account.session(1);
    expect(await account.rotate(1, 'd-3', NEXT)).toMatchObject({
      ...{ sessionId: account.idOf(1), chosen: 2, lastActiveAtMs: NOW, endsAtMs: NOW + TTL_MS },
    });
    expect(await account.stored(1)).toMatchObject({ secret: 'd-4', retired: 'd-3:', unused: '1', active: String(NOW) });
    await account.use(1, 'd-3');
    await account.use(1, 'd-4');
    expect(await account.stored(1)).toMatchObject({ retired: `d-3:${NOW + GRACE_MS}` });
    expect(await account.index()).toEqual([`${account.idOf(1)} phone`, String(NOW + TTL_MS)]);
  });

  test.each([
    [['d-0', 'd-3', 'd-5'], 2],
    [['d-0', 'd-4', 'd-3'], 3],
  ])('to the present one for a caller with the same earlier secret: %j', async (candidates, chosen) => {
    const account = makeAccount(redis);
    await account.session(1, { retired: 'd-2:' });
    expect(await account.rotate(1, 'd-2', candidates)).toMatchObject({ chosen });
    expect(await account.stored(1)).toMatchObject({ secret: 'd-3', retired: 'd-2:' });
  });

  test('to a random one for a caller whose secret is so old that no present one follows from it', async () => {
    const account = makeAccount(redis);
    await account.session(1, { retired: 'd-2:' });
    expect(await account.rotate(1, 'd-2', NEXT)).toMatchObject({ chosen: 1 });
    expect(await account.stored(1)).toMatchObject({ secret: 'd-0', retired: 'd-2: d-3:' });
  });

  test('to a random one where the one that follows was a secret before', async () => {
    const account = makeAccount(redis);
    await account.session(1, { retired: 'd-4:' });
    expect(await account.rotate(1, 'd-3', NEXT)).toMatchObject({ chosen: 1 });
    expect(await account.stored(1)).toMatchObject({ secret: 'd-0' });
  });

  test.each([
    ['persist', '1', NOW + TTL_MS],
    ['persist', '0', NOW + 100_000],
    ['once', '1', NOW + 100_000],
  ])('and ends later only if it slides: %s, %s', async (persist, sliding, endsAtMs) => {
    const account = makeAccount(redis);
    await account.session(1, { persist, sliding });
    expect(await account.rotate(1, 'd-3', NEXT)).toMatchObject({ endsAtMs });
    expect(await account.use(1, 'd-4')).toMatchObject({ endsAtMs });
    expect(await redis.pexpiretime(account.sessionKey(1))).toBe(endsAtMs + KEEP_MS);
  });

  test('and its 32 last secrets stay known', async () => {
    const account = makeAccount(redis);
    const retired = Array.from({ length: 32 }, (_, i) => `r-${i}`);
    await account.session(1, { retired: retired.map((digest) => `${digest}:${NOW + 1}`).join(' ') });
    await account.rotate(1, 'd-3', NEXT);
    await expect(account.use(1, 'r-0')).rejects.toMatchObject({ code: 'session_expired' });
    for (const digest of ['r-1', 'r-31', 'd-3', 'd-4']) await account.use(1, digest);
    const [only = ''] = retired;
    await account.session(2, { retired: `${only}:${NOW + 1}` });
    await account.rotate(2, 'd-3', NEXT);
    await account.use(2, only);
  });
});

describe('a session is used', () => {
  test('by its id alone where an access token has proved the rest', async () => {
    const account = makeAccount(redis);
    await account.session(1, { retired: 'd-2:', unused: '1' });
    expect(await account.use(1, '')).toMatchObject({ sessionId: account.idOf(1), subject: account.subject });
    expect(await account.stored(1)).toMatchObject({ retired: 'd-2:', unused: '1' });
  });

  test.each([
    ['for the first time is written', { created: NOW - 5, active: NOW - 5 }, NOW],
    ['a minute after the last time is written', { active: NOW - 60_000 }, NOW],
    ['sooner is not written', { active: NOW - 59_999 }, NOW - 59_999],
  ])('%s', async (_, fields, active) => {
    const account = makeAccount(redis);
    await account.session(1, fields);
    expect(await account.use(1, 'd-3')).toMatchObject({ lastActiveAtMs: active });
    expect(await account.stored(1)).toMatchObject({ active: String(active) });
  });
});
