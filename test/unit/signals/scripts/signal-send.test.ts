import type { Redis } from 'ioredis';
import { RATES } from '../../../../shared/contract/rates.ts';
import { expectLifetimes } from '../../../support/redis/lifetime.ts';
import { connectTo, sharedRedisUrl } from '../../../support/redis/redis.ts';
import { NOW } from '../../../support/redis/still-clock.ts';
import { fieldsOf, makeAccount } from '../../redis/scripts/account.ts';

let redis: Redis;

beforeAll(() => {
  redis = connectTo(sharedRedisUrl());
});
afterAll(() => redis.disconnect());

type Account = Awaited<ReturnType<typeof makeAccount>>;
const makeTransfer = (account: Account, sender: string, receiver: string) =>
  redis.hset(account.keys.transfer, { sender, receiver });

describe('a signal', () => {
  test.each([
    ['by its id', '=phone'],
    ['by its name', '~Phone'],
    ['by a name that looks the same', '~PHONE'],
  ])('reaches a device %s, and no stream is told twice', async (_, target) => {
    const account = await makeAccount(redis);
    await account.route('s1');
    await account.route('s2', { device: 'laptop' });
    const { announced, ...reply } = await account.send({ target });
    const routes = [
      { channel: 'bus:a', device: 'phone' },
      { channel: 'bus:a', device: 'laptop' },
    ];
    expect(reply).toEqual({ receiver: 'phone', routes: expect.arrayContaining(routes) });
    expect(announced).toHaveLength(1);
    const [[, entry] = ['', []]] = await account.logged();
    const { e, t, d = '' } = fieldsOf(entry);
    expect({ e, t }).toEqual({ e: 'signal', t: 'phone' });
    expect(JSON.parse(d)).toEqual({
      ...{ from_device_id: 'laptop', from_name: 'Laptop', transfer_id: null, kind: 'offer', payload: 'x' },
    });
    expect(await redis.exists(account.keys.operation)).toBe(0);
  });

  test.each([
    ['from a device without a row', { sender: 'removed' }, 'device_required'],
    ['to a device that is not there', { target: '=nobody' }, 'not_found'],
    ['to a name that several devices have', { target: '~TABLET' }, 'name_taken'],
    ['for a transfer that is not there', { transferId: 't1' }, 'not_found'],
  ])('is refused %s', async (_, args, code) => {
    const account = await makeAccount(redis);
    await redis.hset(account.keys.devices, 'd1', 'Tablet\n', 'd2', 'tablet\n');
    await expect(account.send(args)).rejects.toMatchObject({ code });
    expect(await account.logged()).toEqual([]);
  });

  test('counts against the rate of its device', async () => {
    const account = await makeAccount(redis);
    await redis.set(account.keys.rate, RATES.signal.limit, 'EX', 60);
    await expect(account.send()).rejects.toMatchObject({ code: 'rate_limited' });
  });
});

describe('a signal for a transfer', () => {
  test.each([
    ['by its sender to its receiver', 'laptop', 'phone', true],
    ['by its receiver to its sender', 'phone', 'laptop', true],
    ['not by its sender to another device', 'laptop', 'tablet', false],
    ['not by its receiver to another device', 'tablet', 'laptop', false],
    ['not to its receiver by another device', 'tablet', 'phone', false],
    ['not to its sender by another device', 'phone', 'tablet', false],
    ['not between others', 'tablet', 'watch', false],
  ])('is sent %s', async (_, sender, receiver, isSent) => {
    const account = await makeAccount(redis);
    await makeTransfer(account, sender, receiver);
    const sent = account.send({ transferId: 't1' });
    if (!isSent) await expect(sent).rejects.toMatchObject({ code: 'not_a_party' });
    else expect(await sent).toMatchObject({ receiver: 'phone' });
    const entries = await account.logged();
    expect(entries.map(([, entry]) => JSON.parse(fieldsOf(entry).d ?? '').transfer_id)).toEqual(isSent ? ['t1'] : []);
  });
});

describe('a signal that is sent again', () => {
  test('is answered from the log, with the streams that are open now', async () => {
    const account = await makeAccount(redis);
    const send = account.prepare({ target: '~Phone' });
    await send();
    await account.route('s1');
    await redis.hset(account.keys.devices, 'phone', 'Other\n');
    const routes = [{ channel: 'bus:a', device: 'phone' }];
    expect(await send(500)).toEqual({ receiver: 'phone', routes, announced: [], isRepeated: true });
    expect(await account.logged()).toHaveLength(1);
  });

  test('keeps its answer for a minute, for the first copy, which may come last', async () => {
    const account = await makeAccount(redis);
    const send = account.prepare();
    await expectLifetimes(redis, () => send(500), { [account.keys.operation]: 60 });
    await account.route('s1');
    const routes = [{ channel: 'bus:a', device: 'phone' }];
    expect(await send()).toEqual({ receiver: 'phone', routes, announced: [], isRepeated: true });
    expect(await account.logged()).toHaveLength(1);
  });

  test('is refused where the log may have lost it', async () => {
    const account = await makeAccount(redis);
    await account.entry(`${NOW}-1`, { prev: '1-1' });
    await expect(account.prepare()(500)).rejects.toMatchObject({ code: 'store_unavailable' });
  });
});
