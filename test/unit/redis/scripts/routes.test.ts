import type { Redis } from 'ioredis';
import { accountNotify } from '../../../../services/sync/redis/account-notify.ts';
import { bindScript } from '../../../../shared/service-kit/redis/scripts/bound-script.ts';
import { connectTo, sharedRedisUrl } from '../../../support/redis/redis.ts';
import { NOW } from '../../../support/redis/still-clock.ts';
import { makeAccount as makeDevices } from '../../devices/scripts/account.ts';
import { makeAccount } from './account.ts';

/* Which replicas a script notifies. */

let redis: Redis;
let listener: Redis;

beforeAll(() => {
  redis = connectTo(sharedRedisUrl());
  listener = connectTo(sharedRedisUrl());
});
afterAll(() => {
  redis.disconnect();
  listener.disconnect();
});

const STALE_MS = 150_000;
type Account = Awaited<ReturnType<typeof makeAccount>>;

/** Returns the channels on which an account is told to compare, and the streams that a signal finds open. */
async function found(account: Account, lateMs = 0) {
  const { announced } = await account.notify();
  const { routes } = await account.send({ lateMs });
  return {
    notified: announced.map(({ channel }) => channel).toSorted(),
    open: routes.map(({ channel, device }) => `${channel} ${device}`).toSorted(),
  };
}

describe('a stream is open', () => {
  test.each([
    ['until it was not renewed for two and a half minutes', STALE_MS, 0, true],
    ['not any longer', STALE_MS + 1, 0, false],
  ])('%s', async (_, seen, lateMs, isOpen) => {
    const account = await makeAccount(redis);
    await redis.hset(account.keys.presence, 'v', 7);
    await account.route('s1', { seen });
    expect(await found(account, lateMs)).toEqual({
      ...{ notified: isOpen ? ['bus:a'] : [], open: isOpen ? ['bus:a phone'] : [] },
    });
  });

  test.each([
    [STALE_MS + 900, true],
    [STALE_MS + 901, false],
  ])('for longer when nobody could renew it for a while: %d ms', async (seen, isOpen) => {
    const account = await makeAccount(redis);
    await account.route('s1', { seen });
    expect((await found(account, 900)).open).toEqual(isOpen ? ['bus:a phone'] : []);
  });

  test('not when it was closed', async () => {
    const account = await makeAccount(redis);
    await redis.hset(account.keys.presence, 'v', 7);
    await account.route('s1', { isClosed: true });
    await account.route('s2', { channel: 'bus:b', device: 'tablet' });
    await account.route('s3', { channel: 'bus:c', isClosed: true });
    expect(await found(account)).toEqual({ notified: ['bus:b'], open: ['bus:b tablet'] });
  });
});

test.each([
  [STALE_MS, true],
  [STALE_MS + 1, false],
])('a stream without a device has its name as long: %d ms', async (seen, isTaken) => {
  const account = await makeDevices(redis);
  const route = ['bus:a', '~Desk', 1, NOW - seen, NOW - seen, 0];
  await redis.hset(account.keys.routes, 's2', route.join('\n'));
  const renamed = account.prepareRename('laptop', 'Desk')();
  if (isTaken) await expect(renamed).rejects.toMatchObject({ code: 'name_taken' });
  else expect(await renamed).toMatchObject({ row: expect.stringMatching(/^Desk\n/) });
});

test('each replica with an open stream is notified once, however many it has', async () => {
  const account = await makeAccount(redis);
  await redis.hset(account.keys.presence, 'v', 7);
  for (const [id, channel] of Object.entries({ s1: 'bus:a', s2: 'bus:b', s3: 'bus:a', s4: 'bus:c', s5: 'bus:b' }))
    await account.route(id, { channel, device: `device of ${id}` });
  expect(await found(account)).toEqual({
    notified: ['bus:a', 'bus:b', 'bus:c'],
    open: [
      'bus:a device of s1',
      'bus:a device of s3',
      'bus:b device of s2',
      'bus:b device of s5',
      'bus:c device of s4',
    ],
  });
  const { announced } = await account.send();
  expect(announced.map(({ channel }) => channel).toSorted()).toEqual(['bus:a', 'bus:b', 'bus:c']);
});

test('a stream that is no longer renewed does not hide a newer one of its replica', async () => {
  const account = await makeAccount(redis);
  await redis.hset(account.keys.presence, 'v', 7);
  await account.route('s1', { seen: STALE_MS + 1 });
  await account.route('s2');
  expect(await found(account)).toEqual({ notified: ['bus:a'], open: ['bus:a phone'] });
});

describe('an account is told to compare', () => {
  test('the end of its log and the version of its presence, as far as it has them', async () => {
    const account = await makeAccount(redis);
    await account.route('s1');
    expect((await account.notify()).announced).toEqual([]);
    await account.entry(`${NOW - 2}-1`);
    await account.entry(`${NOW - 1}-1`);
    await redis.hset(account.keys.presence, 'v', 7);
    expect(
      (await account.notify()).announced.map(({ label, payload }) => [label, payload.split('\n').slice(1)]),
    ).toEqual([
      ['compare', [account.name, `${NOW - 1}-1`]],
      ['compare', [account.name, '7']],
    ]);
  });
});

describe('a script that publishes itself', () => {
  /** Runs a script that publishes. Returns what it says about its announcements. */
  async function publish(account: Account) {
    const bound = bindScript(accountNotify, true, []);
    const text = bound.text.replaceAll("redis.call('TIME')", `{ ${NOW / 1000}, 0 }`);
    const reply = (await redis.eval(text, bound.keyCount, ...bound.words(account.keys, {}))) as unknown[];
    return reply.at(-1);
  }

  test('counts what was heard, and leaves to its caller what nobody heard', async () => {
    const account = await makeAccount(redis);
    const [heard, unheard] = [`${account.name}:a`, `${account.name}:b`];
    await listener.subscribe(heard);
    await account.route('s1', { channel: heard });
    await redis.hset(account.keys.presence, 'v', 7);
    expect(await publish(account)).toBe('compare');
    await account.entry(`${NOW - 1}-1`);
    expect(await publish(account)).toBe('compare\ncompare');
    await account.route('s2', { channel: unheard });
    const left = [unheard, 'compare', expect.stringContaining(`${NOW - 1}-1`), unheard, 'compare', expect.any(String)];
    expect(await publish(account)).toEqual(['compare\ncompare', '0', left]);
  });

  test('says nothing where nobody is to be told', async () => {
    const account = await makeAccount(redis);
    expect(await publish(account)).toBe('');
  });
});
