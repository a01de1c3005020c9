import type { Redis } from 'ioredis';
import { LIMITS } from '../../../../shared/contract/limits.ts';
import { connectTo, sharedRedisUrl } from '../../../support/redis/redis.ts';
import { NOW } from '../../../support/redis/still-clock.ts';
import { makeAccount, rowOf } from './account.ts';

let redis: Redis;

beforeAll(() => {
  redis = connectTo(sharedRedisUrl());
});
afterAll(() => redis.disconnect());

type Account = Awaited<ReturnType<typeof makeAccount>>;
const PHONE = { kind: 'phone', created: NOW };
const jsonOf = (name: string, kind = 'phone') => `{"device":{"device_id":"phone","name":"${name}","type":"${kind}"}}`;

describe('a new device', () => {
  test('has a row, and the others are told, with a new version of presence', async () => {
    const account = await makeAccount(redis);
    const { announced, ...reply } = await account.add();
    expect(reply).toEqual({ row: rowOf('Phone', PHONE), added: true, jobs: [] });
    expect(await account.row('phone')).toBe(rowOf('Phone', PHONE));
    expect(await account.logged()).toEqual([['device:added', '!phone', jsonOf('Phone')]]);
    expect(announced.map(({ label }) => label)).toEqual(['device:added', 'presence']);
    expect(await redis.hgetall(account.keys.presence)).toEqual({ v: String(NOW) });
    expect(await redis.exists(account.keys.due)).toBe(0);
  });

  test('ends with its session', async () => {
    const account = await makeAccount(redis);
    await account.add({ session: 'x', sessionEnd: NOW + 5, mode: 'minted' });
    expect(await account.row('phone')).toBe(rowOf('Phone', { ...PHONE, session: 'x', end: String(NOW + 5) }));
    expect(await redis.zrange(account.keys.due, '0', '-1', 'WITHSCORES')).toEqual(['session:phone', String(NOW + 5)]);
  });

  test.each([
    [LIMITS.devicesPerAccount - 1, true],
    [LIMITS.devicesPerAccount, false],
  ])('is let in beside so many others: %d', async (count, isLetIn) => {
    const account = await makeAccount(redis);
    for (let i = 1; i < count; i++) await account.rows({ [`d${i}`]: rowOf(`Device ${i}`) });
    if (isLetIn) expect(await account.add()).toMatchObject({ added: true });
    else await expect(account.add()).rejects.toMatchObject({ code: 'device_limit' });
    expect(await redis.hlen(account.keys.devices)).toBe(LIMITS.devicesPerAccount);
  });
});

describe('a new name', () => {
  const LONG = 'x'.repeat(LIMITS.deviceNameChars);

  test.each([
    ['is as wanted', 'Phone', {}, 'Phone'],
    ['has a number if it is taken', 'Laptop', {}, 'Laptop 2'],
    ['has a number if another looks the same', 'LAPTOP', {}, 'LAPTOP 2'],
    ['has the next number that is free', 'Laptop', { d1: 'Laptop 2', d2: 'laptop 3' }, 'Laptop 4'],
    ['is cut for its number', LONG, { d1: LONG }, `${LONG.slice(2)} 2`],
    [
      'is cut without a space at its end',
      `${'x'.repeat(29)} yz`,
      { d1: `${'x'.repeat(29)} yz` },
      `${'x'.repeat(29)} 2`,
    ],
  ])('%s', async (_, wanted, others, name) => {
    const account = await makeAccount(redis);
    for (const [id, other] of Object.entries(others)) await account.rows({ [id]: rowOf(other) });
    expect((await account.add({ wanted })).row).toBe(rowOf(name, PHONE));
    expect(name.length).toBeLessThanOrEqual(LIMITS.deviceNameChars);
  });
});

describe('a device that is there', () => {
  const OLD = { kind: 'phone' };
  const makeOwner = async (): Promise<Account> => {
    const account = await makeAccount(redis);
    await account.rows({ phone: rowOf('Phone', OLD) });
    return account;
  };

  test('is not new: its row stays, whatever is wanted', async () => {
    const account = await makeOwner();
    const reply = await account.add({ wanted: 'Other', pushes: 'unscheduled' });
    expect(reply).toEqual({ row: rowOf('Phone', OLD), added: false, jobs: [], announced: [] });
  });

  test.each([
    ['minted', { wanted: 'Phone' }, 'Phone', 'phone'],
    ['lost', { wanted: 'Other', wantedKind: 'tablet' }, 'Phone', 'phone'],
    ['kept', { wanted: 'Other' }, 'Phone', 'phone'],
  ] as const)('stays as it is where nothing changes: %s', async (mode, args, name, kind) => {
    const account = await makeOwner();
    const row = rowOf(name, { kind });
    expect(await account.add({ mode, ...args })).toEqual({ row, added: false, jobs: [], announced: [] });
    expect(await redis.exists(account.keys.presence)).toBe(0);
  });

  test('gets another session without a word', async () => {
    const account = await makeOwner();
    const row = rowOf('Phone', { ...OLD, session: 'x', end: String(NOW + 5) });
    const reply = await account.add({ mode: 'minted', session: 'x', sessionEnd: NOW + 5 });
    expect(reply).toEqual({ row, added: false, jobs: [], announced: [] });
    expect(await account.row('phone')).toBe(row);
    expect(await redis.zscore(account.keys.due, 'session:phone')).toBe(String(NOW + 5));
  });

  test('gets another name, of which everybody is told', async () => {
    const account = await makeOwner();
    const { announced, ...reply } = await account.add({ mode: 'minted', wanted: 'Other', pushes: 'scheduled' });
    expect(reply).toEqual({ row: rowOf('Other', OLD), added: false, jobs: [] });
    expect(await account.logged()).toEqual([['device:renamed', '*', jsonOf('Other')]]);
    expect(announced.map(({ label }) => label)).toEqual(['device:renamed', 'presence']);
  });

  test('gets its own name in another case, and no number', async () => {
    const account = await makeOwner();
    expect((await account.add({ mode: 'minted', wanted: 'PHONE' })).row).toBe(rowOf('PHONE', OLD));
  });

  test('keeps its name beside an older row that looks the same', async () => {
    const account = await makeOwner();
    await account.rows({ d1: rowOf('phone') });
    expect((await account.add({ mode: 'minted', session: 'x' })).row).toBe(rowOf('Phone', { ...OLD, session: 'x' }));
  });

  test.each([['kept'], ['minted']] as const)('gets another type with a new version of presence: %s', async (mode) => {
    const account = await makeOwner();
    const { announced, row } = await account.add({ mode, wantedKind: 'tablet' });
    expect(row).toBe(rowOf('Phone', { kind: 'tablet' }));
    expect(await account.logged()).toEqual([]);
    expect(announced.map(({ label }) => label)).toEqual(['presence']);
  });

  test('is found although the account is full', async () => {
    const account = await makeOwner();
    for (let i = 2; i < LIMITS.devicesPerAccount; i++) await account.rows({ [`d${i}`]: rowOf(`Device ${i}`) });
    expect(await account.add({ mode: 'minted', session: 'x' })).toMatchObject({ added: false });
  });
});

describe('a row that was lost', () => {
  test.each([['lost'], ['kept']] as const)('is put back without an event: %s', async (mode) => {
    const account = await makeAccount(redis);
    await account.subscribe('laptop');
    const { announced, ...reply } = await account.add({ mode, pushes: 'unscheduled' });
    expect(reply).toEqual({ row: rowOf('Phone', PHONE), added: true, jobs: [] });
    expect(await account.logged()).toEqual([]);
    expect(announced.map(({ label }) => label)).toEqual(['presence']);
  });

  test('is online at once if a stream of its device is open', async () => {
    const account = await makeAccount(redis);
    await account.stream('s2', 'phone');
    await account.stream('s3', 'watch');
    await account.add({ mode: 'lost' });
    expect(await redis.hgetall(account.keys.presence)).toEqual({ v: String(NOW), phone: `1${NOW}` });
  });
});

describe('a push for a new device', () => {
  const JOB = 'push:web:device:laptop:phone';

  test('is made at once for each of the others', async () => {
    const account = await makeAccount(redis);
    await account.rows({ tablet: rowOf('Tablet'), watch: rowOf('Watch') });
    for (const device of ['laptop', 'watch']) await account.subscribe(device);
    const { jobs } = await account.add({ pushes: 'scheduled' });
    expect(jobs?.toSorted()).toEqual([JOB, 'push:web:device:watch:phone']);
    expect(await redis.zscore(account.keys.due, JOB)).toBe(String(NOW));
  });

  test('is not made for an account that is not scheduled: nothing is done yet', async () => {
    const account = await makeAccount(redis);
    await account.subscribe('laptop');
    expect(await account.add({ pushes: 'unscheduled' })).toMatchObject({ row: '', jobs: null });
    expect(await account.row('phone')).toBeNull();
    expect(await account.add()).toMatchObject({ added: true, jobs: [] });
    expect(await redis.exists(account.keys.due)).toBe(0);
  });

  test('is not in the way of a device that was there', async () => {
    const account = await makeAccount(redis);
    await account.subscribe('laptop');
    await account.rows({ phone: rowOf('Phone') });
    const reply = await account.add({ mode: 'minted', wanted: 'Other', pushes: 'unscheduled' });
    expect(reply).toMatchObject({ row: rowOf('Other', { kind: 'phone' }), jobs: [] });
  });
});
