import type { Redis } from 'ioredis';
import { RATES } from '../../../../shared/contract/rates.ts';
import { expectLifetimes } from '../../../support/redis/lifetime.ts';
import { connectTo, sharedRedisUrl } from '../../../support/redis/redis.ts';
import { NOW } from '../../../support/redis/still-clock.ts';
import { jobOf, makeAccount, registrationText } from './account.ts';

/* Registrations for pushes, and the owners of their targets. */

let redis: Redis;

beforeAll(() => {
  redis = connectTo(sharedRedisUrl());
});
afterAll(() => redis.disconnect());

const JOB = jobOf('message');
const NEW = { id: 'r2', created: String(NOW), fence: '8', preview: 'none', target: '"new"' };

describe('a device may register', () => {
  test('and is told what it has registered', async () => {
    const account = await makeAccount(redis);
    expect(await account.admit()).toMatchObject({ target: null });
    await account.subscribe();
    expect(await account.admit()).toMatchObject({ target: 'target' });
    expect(await account.admit('phone', 'fcm')).toMatchObject({ target: null });
  });

  test('not without a row, nor too often', async () => {
    const account = await makeAccount(redis);
    await expect(account.admit('removed')).rejects.toMatchObject({ code: 'device_required' });
    await redis.set(account.keys.rate, RATES.push.limit, 'EX', 60);
    await expect(account.admit()).rejects.toMatchObject({ code: 'rate_limited' });
  });
});

describe('a registration', () => {
  test('is written', async () => {
    const account = await makeAccount(redis);
    expect(await account.register()).toMatchObject({ id: 'r2', hash: '', fence: '0', jobs: [] });
    expect(await account.registration()).toBe(registrationText(NEW));
  });

  test('is not written without a row', async () => {
    const account = await makeAccount(redis);
    await expect(account.register({ device: 'removed' })).rejects.toMatchObject({ code: 'device_required' });
    expect(await redis.exists(account.keys.push)).toBe(0);
  });

  test.each([['7'], ['8']])('of the same target keeps its id, and works again: fence %s', async (fence) => {
    const account = await makeAccount(redis);
    await account.subscribe({ ok: '5', suspended: String(NOW) });
    await account.job(JOB, NOW + 5, `m1\n${NOW}\n2\n${NOW + 5}`);
    expect(await account.register({ fence })).toMatchObject({ id: 'r1', hash: '', fence: '0', jobs: [] });
    expect(await account.registration()).toBe(registrationText({ ok: '5', fence, preview: 'none', target: '"new"' }));
    expect(await account.stored(JOB)).toEqual({ text: `m1\n${NOW}\n2\n${NOW + 5}`, at: 5 });
  });

  test('does not replace a later claim of its target', async () => {
    const account = await makeAccount(redis);
    await account.subscribe();
    expect(await account.register({ fence: '6' })).toMatchObject({ id: 'r1', hash: '', fence: '0', jobs: [] });
    expect(await account.registration()).toBe(registrationText());
  });

  test('of another target replaces the old one, however late that was claimed', async () => {
    const account = await makeAccount(redis);
    await account.subscribe({ ok: '5', suspended: String(NOW) });
    expect(await account.register({ hash: 'other', fence: '6' })).toMatchObject({ id: 'r2', hash: 'hash', fence: '7' });
    expect(await account.registration()).toBe(registrationText({ ...NEW, hash: 'other', fence: '6' }));
  });

  test('of another target makes pushes due that were put off for the old one', async () => {
    const account = await makeAccount(redis);
    await account.subscribe();
    const late = jobOf('transfer');
    const of = {
      fcm: jobOf('message', { platform: 'fcm' }),
      laptop: jobOf('message', { device: 'laptop', peer: 'phone' }),
    };
    await account.job(JOB, NOW + 5, `m1\n${NOW - 9}\n2.1\n${NOW + 5}`);
    await account.job(jobOf('device'), NOW + 6, `d1\n${NOW - 9}\n2\n${NOW + 6}`);
    await account.job(late, NOW + 30_000, `t1\n${NOW - 9}\n3\n${NOW}`);
    for (const job of Object.values(of)) await account.job(job, NOW + 5, `m1\n${NOW}\n2\n${NOW + 5}`);
    const { jobs } = await account.register({ hash: 'other' });
    expect(jobs.toSorted()).toEqual([jobOf('device'), JOB]);
    expect(await account.stored(JOB)).toEqual({ text: `m1\n${NOW - 9}\n0\n0`, at: 0 });
    expect(await account.stored(late)).toEqual({ text: `t1\n${NOW - 9}\n0\n0`, at: 30_000 });
    for (const job of Object.values(of))
      expect(await account.stored(job)).toEqual({ text: `m1\n${NOW}\n2\n${NOW + 5}`, at: 5 });
  });
});

describe('registrations are dropped', () => {
  test('of all platforms, with their pushes, and of no other device', async () => {
    const account = await makeAccount(redis);
    await account.subscribe();
    await account.subscribe({ hash: 'token', fence: '9' }, { platform: 'apns' });
    await account.subscribe({}, { device: 'laptop' });
    const other = jobOf('message', { device: 'laptop', peer: 'phone' });
    for (const job of [JOB, jobOf('test', { platform: 'apns' }), other]) await account.job(job);
    expect(await account.drop()).toMatchObject({
      dropped: [
        { hash: 'hash', fence: '7' },
        { hash: 'token', fence: '9' },
      ],
    });
    expect((await redis.hkeys(account.keys.push)).toSorted()).toEqual([`j:${other}`, 'r:web:laptop']);
    expect(await redis.zrange(account.keys.due, '0', '-1')).toEqual([other]);
  });

  test('of one platform', async () => {
    const account = await makeAccount(redis);
    await account.subscribe();
    await account.subscribe({ hash: 'token' }, { platform: 'fcm' });
    await account.job(JOB);
    expect(await account.drop({ platform: 'fcm' })).toMatchObject({ dropped: [{ hash: 'token', fence: '7' }] });
    expect((await redis.hkeys(account.keys.push)).toSorted()).toEqual([`j:${JOB}`, 'r:web:phone']);
  });

  test.each([
    ['up to a fence', { fence: '7', hash: 'hash' }, true],
    ['up to a later fence', { fence: '10', hash: 'hash' }, true],
    ['not after a fence', { fence: '6', hash: 'hash' }, false],
    ['not of another target', { fence: '7', hash: 'other' }, false],
  ])('%s', async (_, args, isDropped) => {
    const account = await makeAccount(redis);
    await account.subscribe();
    expect((await account.drop({ platform: 'web', ...args })).dropped).toHaveLength(isDropped ? 1 : 0);
    expect(await account.registration()).toBe(isDropped ? null : registrationText());
  });
});

describe('the owner of a target', () => {
  test('is the one that claims it, with the time as its fence', async () => {
    const account = await makeAccount(redis);
    await expectLifetimes(redis, () => account.own(), { [account.keys.owner]: 180 * 86_400 });
    const reply = await account.own({ claimantAccount: 'v', claimant: 'tablet' });
    expect(reply).toMatchObject({ fence: String(NOW + 1), account: 'u', device: 'phone' });
  });

  test.each([
    ['that has none yet', null, NOW],
    ['whose fence is from before', NOW - 5, NOW],
    ['whose fence is of this time', NOW, NOW + 1],
    ['whose fence is ahead, because the clock was set back', NOW + 50, NOW + 51],
  ])('claims one %s', async (_, old, fence) => {
    const account = await makeAccount(redis);
    if (old !== null) await redis.set(account.keys.owner, `${old}\nv\ntablet`);
    const before = old === null ? { account: '', device: '' } : { account: 'v', device: 'tablet' };
    expect(await account.own()).toMatchObject({ fence: String(fence), ...before });
    expect(await redis.get(account.keys.owner)).toBe(`${fence}\nu\nphone`);
  });

  test.each([
    ['is the one with the highest fence', '8', { fence: '8', account: 'v', device: 'tablet' }],
    ['is the one that asks, with the same fence', '7', { fence: '7', account: 'u', device: 'phone' }],
    ['is the one that asks, whose fence is higher', '6', { fence: '7', account: 'u', device: 'phone' }],
  ])('%s', async (_, stored, owner) => {
    const account = await makeAccount(redis);
    await redis.set(account.keys.owner, `${stored}\nv\ntablet`);
    expect(await account.own({ ownFence: '7' })).toMatchObject(owner);
    expect(await redis.get(account.keys.owner)).toBe(Object.values(owner).join('\n'));
  });

  test('is the one that asks, where the store has lost it', async () => {
    const account = await makeAccount(redis);
    expect(await account.own({ ownFence: '7' })).toMatchObject({ fence: '7', account: 'u', device: 'phone' });
    expect(await redis.get(account.keys.owner)).toBe('7\nu\nphone');
  });

  test.each([
    ['6', true],
    ['7', true],
    ['8', false],
  ])('with the fence %s is forgotten when the registration of the fence 7 was dropped: %s', async (fence, isGone) => {
    const account = await makeAccount(redis);
    await redis.set(account.keys.owner, `${fence}\nv\ntablet`);
    await account.release('7');
    expect(await redis.exists(account.keys.owner)).toBe(isGone ? 0 : 1);
  });

  test('that is gone need not be forgotten', async () => {
    const account = await makeAccount(redis);
    await account.release('7');
    expect(await redis.exists(account.keys.owner)).toBe(0);
  });
});
