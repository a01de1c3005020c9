import type { Redis } from 'ioredis';
import { connectTo, sharedRedisUrl } from '../../../support/redis/redis.ts';
import { NOW } from '../../../support/redis/still-clock.ts';
import { jobOf, makeAccount, type Registration, registrationText } from './account.ts';

/* A push was sent to the registration with the fence 7, and has ended. */

let redis: Redis;

beforeAll(() => {
  redis = connectTo(sharedRedisUrl());
});
afterAll(() => redis.disconnect());

const JOB = jobOf('message');
const LEASE = NOW + 30_000;
const NONE = { hash: '', fence: '0' };
const GONE = { text: null, at: null };

/** Makes an account whose push is under way. Its newest message was m1 then, and is now the given one. */
async function makeTaken(registration: Partial<Registration> | null = {}, newest = 'm1', tries = '2.1') {
  const account = await makeAccount(redis);
  if (registration !== null) await account.subscribe(registration);
  await account.job(JOB, LEASE, `${newest}\n${NOW - 9}\n${tries}\n5`);
  return account;
}
const under = (newest: string, tries = '2.1') => ({ text: `${newest}\n${NOW - 9}\n${tries}\n5`, at: 30_000 });
const anew = (newest: string) => ({ text: `${newest}\n${NOW - 9}\n0\n0`, at: 0 });

describe('a push that was delivered', () => {
  test('is over, and its registration works', async () => {
    const account = await makeTaken({ suspended: '5' });
    expect(await account.finish(JOB)).toMatchObject(NONE);
    expect(await account.registration()).toBe(registrationText({ ok: String(NOW) }));
    expect(await account.stored(JOB)).toEqual(GONE);
  });

  test('is followed by another one for what arrived meanwhile', async () => {
    const account = await makeTaken({}, 'm2');
    await account.finish(JOB);
    expect(await account.stored(JOB)).toEqual({ text: `m2\n${NOW - 9}\n0\n0`, at: 30_000 });
  });

  test.each([
    ['of the same target', { fence: '8' }],
    ['of another target', { fence: '8', hash: 'other' }],
  ])('says nothing about a registration that was renewed meanwhile, %s', async (_, renewed) => {
    const account = await makeTaken(renewed);
    await account.finish(JOB);
    expect(await account.registration()).toBe(registrationText(renewed));
    expect(await account.stored(JOB)).toEqual(GONE);
  });

  test('is over without its registration', async () => {
    const account = await makeTaken(null);
    await account.finish(JOB);
    expect(await account.stored(JOB)).toEqual(GONE);
  });
});

describe('a push whose target is gone', () => {
  test('takes its registration with it, and all pushes of it', async () => {
    const account = await makeTaken();
    await account.job(jobOf('transfer'));
    expect(await account.finish(JOB, { outcome: 'gone' })).toMatchObject({ hash: 'hash', fence: '7' });
    expect(await redis.exists(account.keys.push, account.keys.due)).toBe(0);
  });

  test.each([
    ['the same target', { fence: '8' }],
    ['another target', { fence: '8', hash: 'other' }],
  ])('is sent anew to a registration that was renewed meanwhile, for %s', async (_, renewed) => {
    const account = await makeTaken(renewed);
    expect(await account.finish(JOB, { outcome: 'gone' })).toMatchObject(NONE);
    expect(await account.registration()).toBe(registrationText(renewed));
    expect(await account.stored(JOB)).toEqual(anew('m1'));
  });

  test('is over where its registration was dropped meanwhile', async () => {
    const account = await makeTaken(null);
    expect(await account.finish(JOB, { outcome: 'gone' })).toMatchObject(NONE);
    expect(await account.stored(JOB)).toEqual(GONE);
  });
});

describe('a push that is refused for now', () => {
  test('suspends its registration, and is over', async () => {
    const account = await makeTaken({ ok: '5' });
    await account.finish(JOB, { outcome: 'suspend' });
    expect(await account.registration()).toBe(registrationText({ ok: '5', suspended: String(NOW) }));
    expect(await account.stored(JOB)).toEqual(GONE);
  });

  test.each([
    ['the same target', { fence: '8' }],
    ['another target', { fence: '8', hash: 'other' }],
  ])('is sent anew to a registration that was renewed meanwhile, for %s', async (_, renewed) => {
    const account = await makeTaken(renewed, 'm2');
    await account.finish(JOB, { outcome: 'suspend' });
    expect(await account.registration()).toBe(registrationText(renewed));
    expect(await account.stored(JOB)).toEqual(anew('m2'));
  });
});

describe('a push that is tried again', () => {
  test.each([
    ['by any replica', 'retry', '2.1', '3'],
    ['by another replica, which is counted', 'not_here', '2.1', '3.2'],
    ['by another replica for the first time', 'not_here', '2', '3.1'],
  ] as const)('is due when its push service said, %s', async (_, outcome, tries, then) => {
    const account = await makeTaken({}, 'm1', tries);
    expect(await account.finish(JOB, { outcome, retryMs: 700 })).toMatchObject(NONE);
    expect(await account.stored(JOB)).toEqual({ text: `m1\n${NOW - 9}\n${then}\n${NOW + 700}`, at: 700 });
    expect(await account.registration()).toBe(registrationText());
  });

  test('waits as its push service asked, although the registration of the same target was renewed', async () => {
    const account = await makeTaken({ fence: '8' });
    await account.finish(JOB, { outcome: 'retry', retryMs: 700 });
    expect(await account.stored(JOB)).toMatchObject({ at: 700 });
  });

  test('does not wait for another target', async () => {
    const account = await makeTaken({ fence: '8', hash: 'other' });
    await account.finish(JOB, { outcome: 'retry', retryMs: 700 });
    expect(await account.stored(JOB)).toEqual(anew('m1'));
  });
});

describe('a push that is given up', () => {
  test('is over, and its registration stays', async () => {
    const account = await makeTaken();
    await account.finish(JOB, { outcome: 'dropped' });
    expect(await account.stored(JOB)).toEqual(GONE);
    expect(await account.registration()).toBe(registrationText());
  });

  test('leaves what arrived meanwhile as it is', async () => {
    const account = await makeTaken({}, 'm2');
    await account.finish(JOB, { outcome: 'dropped' });
    expect(await account.stored(JOB)).toEqual(under('m2'));
  });
});

test('a push that is over already is not brought back', async () => {
  const account = await makeAccount(redis);
  await account.subscribe();
  for (const outcome of ['retry', 'dropped'] as const) {
    expect(await account.finish(JOB, { outcome, retryMs: outcome === 'retry' ? 700 : null })).toMatchObject(NONE);
    expect(await account.stored(JOB)).toEqual(GONE);
  }
});
