import { randomBytes } from 'node:crypto';
import type { Redis } from 'ioredis';
import { RATES } from '../../../../shared/contract/rates.ts';
import { BUS } from '../../../../services/sync/redis/bus/payloads.ts';
import { makeKeys } from '../../../../services/sync/redis/keys.ts';
import { inviteAdd, invitePending, inviteTake } from '../../../../services/sync/signin/scripts.ts';
import { expectLifetimes } from '../../../support/redis/lifetime.ts';
import { connectTo, randomPrefix, sharedRedisUrl } from '../../../support/redis/redis.ts';
import { NOW, runScript } from '../../../support/redis/still-clock.ts';

/* A signed-in device invites a new one, which then asks this device to be let in. */

let redis: Redis;

beforeAll(() => {
  redis = connectTo(sharedRedisUrl());
});
afterAll(() => redis.disconnect());

const keys = makeKeys(randomPrefix());
const [TTL_MS, REQUEST_MS] = [120_000, 90_000];

/** Makes an account with a laptop, which invites, and a tablet. Its scripts run in the store at NOW. */
async function makeAccount() {
  const name = `u${randomBytes(5).toString('hex')}`;
  const on = keys.inAccount(name, { rate: keys.rate(name, 'qr_invite', 'laptop') });
  await redis.hset(on.devices, 'laptop', 'Laptop\n', 'tablet', 'Tablet\n');
  await redis.hset(on.routes, 's1', ['bus:a', 'laptop', 1, NOW, NOW, 0].join('\n'));
  return {
    name,
    keys: on,
    add: (invite: string, device = 'laptop') =>
      runScript(redis, inviteAdd, [], on, { invite, device, ttlMs: TTL_MS, requestMs: REQUEST_MS }),
    take: (invite: string, request = 'r1') =>
      runScript(redis, inviteTake, [], on, {
        ...{ invite, request, requestExpires: NOW + REQUEST_MS, data: `{"id":"${request}"}` },
      }),
    pending: async (device = 'laptop') => (await runScript(redis, invitePending, [], on, { device })).events,
    /** Writes an invite that expires this many ms from NOW, or, with data, a request that was made with one. */
    written: (field: string, inMs: number, { device = 'laptop', data = '' } = {}) =>
      redis.hset(on.invites, field, `${device}\n${NOW + inMs}\n${data}`),
    fields: async () => (await redis.hkeys(on.invites)).sort(),
  };
}

describe('a device invites', () => {
  test('for its time, and a request that is made at the last moment has its full time too', async () => {
    const account = await makeAccount();
    const add = async () => expect(await account.add('i1')).toMatchObject({ expiresAtMs: NOW + TTL_MS });
    await expectLifetimes(redis, add, { [account.keys.invites]: (TTL_MS + REQUEST_MS) / 1_000 });
    await account.take('i1');
  });

  test('and removes what has expired', async () => {
    const account = await makeAccount();
    await account.written('invite:i1', 0);
    await account.written('invite:i2', 1);
    await account.written('request:r1', 0, { data: '{}' });
    await account.written('request:r2', 1, { data: '{}' });
    await account.add('i3');
    expect(await account.fields()).toEqual(['invite:i2', 'invite:i3', 'request:r2']);
  });

  test('only while it has a row', async () => {
    const account = await makeAccount();
    await expect(account.add('i1', 'phone')).rejects.toMatchObject({ code: 'device_required' });
    expect(await account.fields()).toEqual([]);
  });

  test('as often as its rate allows', async () => {
    const account = await makeAccount();
    await redis.set(account.keys.rate, RATES.qr_invite.limit - 1, 'EX', 60);
    await account.add('i1');
    await expect(account.add('i2')).rejects.toMatchObject({ code: 'rate_limited' });
  });
});

describe('an invite', () => {
  test('serves one request, which the inviting device is told of', async () => {
    const account = await makeAccount();
    await account.add('i1');
    const payload = [BUS.unlogged, account.name, 'signin:requested', 'laptop', '{"id":"r1"}'].join('\n');
    expect(await account.take('i1')).toEqual({ announced: [{ channel: 'bus:a', label: 'signin:requested', payload }] });
    expect(await account.fields()).toEqual(['request:r1']);
    await expect(account.take('i1', 'r2')).rejects.toMatchObject({ code: 'not_found' });
    expect(await account.pending()).toEqual(['{"id":"r1"}']);
  });

  test('serves the same call again, after a lost answer', async () => {
    const account = await makeAccount();
    await account.add('i1');
    const { announced } = await account.take('i1');
    expect(announced).toHaveLength(1);
    // The caller of the first call got no answer, and so did not announce the event.
    expect(await account.take('i1')).toEqual({ announced });
    expect(await account.pending()).toHaveLength(1);
  });

  test.each([
    ['that is unknown', 'i2', 1, 'laptop'],
    ['that has expired', 'i1', 0, 'laptop'],
    ['of a device that is gone', 'i1', 1, 'phone'],
  ])('%s is not found', async (_, invite, inMs, device) => {
    const account = await makeAccount();
    await account.written('invite:i1', inMs, { device });
    await expect(account.take(invite)).rejects.toMatchObject({ code: 'not_found' });
    expect(await account.fields()).toEqual(['invite:i1']);
  });

  test('is good up to its last millisecond', async () => {
    const account = await makeAccount();
    await account.written('invite:i1', 1);
    await account.take('i1');
    expect(await account.pending()).toEqual(['{"id":"r1"}']);
  });
});

test('the pending requests of a device are those with its invites that have not expired', async () => {
  const account = await makeAccount();
  await account.written('invite:i1', 1);
  await account.written('request:r1', 1, { data: '{"id":"r1"}' });
  await account.written('request:r2', 0, { data: '{"id":"r2"}' });
  await account.written('request:r3', 1, { data: '{"id":"r3"}', device: 'tablet' });
  await account.written('request:r4', 1, { data: '{"id":"r4"}' });
  expect((await account.pending()).sort()).toEqual(['{"id":"r1"}', '{"id":"r4"}']);
  expect(await account.pending('tablet')).toEqual(['{"id":"r3"}']);
});
