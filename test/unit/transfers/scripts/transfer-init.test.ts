import type { Redis } from 'ioredis';
import { LIMITS } from '../../../../shared/contract/limits.ts';
import { RATES } from '../../../../shared/contract/rates.ts';
import { connectTo, sharedRedisUrl } from '../../../support/redis/redis.ts';
import { NOW } from '../../../support/redis/still-clock.ts';
import { changedJson, makeAccount } from './account.ts';

let redis: Redis;

beforeAll(() => {
  redis = connectTo(sharedRedisUrl());
});
afterAll(() => redis.disconnect());

const OFFERED = changedJson({ created: String(NOW) });
type Account = Awaited<ReturnType<typeof makeAccount>>;

/** Adds live transfers of this many bytes each, or ended ones. */
const addLive = (account: Account, count: number, bytes: number, scope = 'full') =>
  redis.zadd(account.keys.transfers, ...Array.from({ length: count }, (_, i) => [0, `x${i}:${bytes}:${scope}`]).flat());
const addEnded = (account: Account, count: number) =>
  redis.zadd(account.keys.transfers, ...Array.from({ length: count }, (_, i) => [NOW - 10_000 + i, `e${i}`]).flat());

describe('an offer', () => {
  test('is recorded, listed, logged and announced', async () => {
    const account = await makeAccount(redis);
    const { announced, ...reply } = await account.offer();
    expect(reply).toEqual({
      ...{ openJson: OFFERED, receiver: 'phone', routes: [{ channel: 'bus:watch', device: '~Watch' }] },
      ...{ jobs: [], evict: [] },
    });
    const [id, entry] = (await account.logged())[0] ?? ['', []];
    const data = `{"transfer":${OFFERED},"files":[{"name":"a","size":10}]},"redelivered":false}`;
    expect(entry?.slice(2, 8)).toEqual(['e', 'transfer:incoming', 't', 'phone', 'd', data]);
    const fields = ['e', account.name, id, '', 'transfer:incoming', 'phone', NOW, data];
    expect(announced).toEqual([{ channel: 'bus:watch', label: 'transfer:incoming', payload: fields.join('\n') }]);
    expect(await account.stored()).toEqual({
      ...{ id: 't1', sender: 'laptop', sender_name: 'Laptop', receiver: 'phone', receiver_name: 'Phone' },
      ...{ files: '[{"name":"a","size":10}]', count: '1', bytes: '10', sealed: 'null', slot: 't1:10:full', log: id },
      ...{ state: 'PENDING', mode: 'p2p', phase: 'initializing', sent: '0', received: '0', error: 'null', relay: '0' },
      ...{ accepted: '0', forwarded: '0', dirty: '0' },
      ...{ created: String(NOW), updated: String(NOW), expires: String(NOW + 86_400_000) },
    });
    expect(await account.offers()).toEqual([`laptop all ${NOW}-t1`, `phone all ${NOW}-t1`, `phone pending ${id}:t1`]);
    expect(await account.transfers()).toEqual(['t1:10:full', '0']);
    expect(await redis.zscore(account.keys.due, 'transfer:t1')).toBe(String(NOW + 86_400_000));
    expect(await redis.exists(account.keys.files, account.keys.sealed, account.keys.operation)).toBe(0);
    for (const key of [account.keys.offers, account.keys.transfers]) {
      expect(await redis.ttl(key)).toBeGreaterThan(7 * 86_400 - 60);
      expect(await redis.ttl(key)).toBeLessThanOrEqual(7 * 86_400);
    }
  });

  test('is found by its receiver among the offers to others', async () => {
    const account = await makeAccount(redis);
    await redis.zadd(account.keys.offers, 0, `tablet pending ${NOW}-7:t2`, 0, `pad pending ${NOW}-7:t3`);
    await account.offer();
    expect(await account.pending('phone', `${NOW + 1}-7`)).toMatchObject({ transfers: ['t1'] });
    expect(await account.list('phone')).toMatchObject({ transfers: [`${NOW}-t1`] });
    expect(await account.list('laptop')).toMatchObject({ transfers: [`${NOW}-t1`] });
  });

  test('keeps its long parts outside of the record, as long as the record', async () => {
    const account = await makeAccount(redis);
    const long = { count: 17, longList: 'list', sealed: 'text', brief: '[]' };
    expect((await account.offer(long)).openJson).toContain('"sealed":""');
    expect(await redis.mget(account.keys.files, account.keys.sealed)).toEqual(['list', 'text']);
    expect(await account.stored()).toMatchObject({ brief: '[]', sealed: '""', count: '17' });
    for (const key of [account.keys.record, account.keys.files, account.keys.sealed]) {
      expect(await redis.ttl(key)).toBeGreaterThan(LIMITS.transferSeconds);
    }
  });

  test.each([
    ['to a device that is not there', { target: '=nobody' }, 'not_found'],
    ['to a name that is not there', { target: '~Nobody' }, 'not_found'],
    ['to a name that two devices look like', { target: '~PC' }, 'name_taken'],
    ['to oneself', { target: '=laptop' }, 'invalid_request'],
    ['from a device without a row', { sender: 'removed' }, 'device_required'],
  ])('is refused %s, and leaves nothing', async (_, args, code) => {
    const account = await makeAccount(redis);
    await redis.hset(account.keys.devices, 'p1', 'Pc\n', 'p2', 'pc\n');
    await expect(account.offer(args)).rejects.toMatchObject({ code });
    expect(await redis.exists(account.keys.record, account.keys.log, account.keys.offers)).toBe(0);
  });

  test('counts against the rate of its device', async () => {
    const account = await makeAccount(redis);
    await redis.set(account.keys.rate, RATES.transfer.limit, 'EX', 60);
    await expect(account.offer()).rejects.toMatchObject({ code: 'rate_limited' });
  });
});

describe('the limit of live transfers', () => {
  const [COUNT, GUESTS, BYTES] = [LIMITS.liveTransfers, LIMITS.liveTransfersOfGuests, LIMITS.transferBytes];

  test.each<[string, [number, number, string?], 'full' | 'guest', boolean]>([
    ['has a place left', [COUNT - 1, 3], 'full', true],
    ['has none left', [COUNT, 1], 'full', false],
    ['has just these bytes left', [1, BYTES - 10], 'full', true],
    ['has too few bytes left', [1, BYTES - 9], 'full', false],
    ['has a place left for guests', [GUESTS - 1, 3, 'guest'], 'guest', true],
    ['has none left for guests', [GUESTS, 1, 'guest'], 'guest', false],
    ['has one for others when guests have theirs', [GUESTS, 1, 'guest'], 'full', true],
    ['has one for guests when others have many', [GUESTS, 1], 'guest', true],
    ['has just these bytes left for guests', [1, BYTES / 2 - 10, 'guest'], 'guest', true],
    ['has too few bytes left for guests', [1, BYTES / 2 - 9, 'guest'], 'guest', false],
    ['has none left for anybody, guests included', [COUNT, 1], 'guest', false],
  ])('%s', async (_, [count, bytes, of], scope, isFree) => {
    const account = await makeAccount(redis);
    await addLive(account, count, bytes, of);
    const offered = account.offer({ scope });
    if (isFree) expect(await offered).toMatchObject({ openJson: OFFERED });
    else await expect(offered).rejects.toMatchObject({ code: 'transfer_limit' });
  });
});

describe('the limit of records', () => {
  test('has the oldest ended transfers removed first', async () => {
    const account = await makeAccount(redis);
    await addLive(account, 2, 1);
    await addEnded(account, LIMITS.transferRecords - 2);
    const evict = ['e0', 'e1', 'e2', 'e3', 'e4', 'e5', 'e6', 'e7'];
    expect(await account.offer()).toMatchObject({
      openJson: '',
      receiver: '',
      routes: [],
      jobs: [],
      evict,
      announced: [],
    });
    expect(await account.logged()).toEqual([]);
    await redis.zrem(account.keys.transfers, 'e0');
    expect(await account.offer()).toMatchObject({ openJson: OFFERED, evict: [] });
  });

  test('has the only ended transfer removed first', async () => {
    const account = await makeAccount(redis);
    await redis.zadd(account.keys.transfers, NOW, 'e0');
    await addLive(account, LIMITS.transferRecords - 1, 1);
    expect(await account.offer()).toMatchObject({ openJson: '', evict: ['e0'] });
  });
});

describe('a push for an offer', () => {
  const JOB = 'push:web:transfer:phone:laptop';
  const subscribe = (account: Account) =>
    redis.hset(account.keys.push, 'r:web:phone', ['id', 'hash', '1', '1', '0', '0', '0', 'target'].join('\n'));

  test.each([
    ['is made at once', null, [], 0],
    ['waits for a device whose stream may deliver', 'bus:a', [], LIMITS.pushSilenceMs],
    ['does not wait when that stream is on a dead replica', 'bus:a', ['bus:a'], 0],
  ])('%s', async (_, channel, dead, delayMs) => {
    const account = await makeAccount(redis);
    await subscribe(account);
    if (channel) await redis.hset(account.keys.routes, 's1', [channel, 'phone', 1, NOW, NOW, 0].join('\n'));
    expect(await account.offer({ pushes: 'scheduled', dead })).toMatchObject({ jobs: delayMs === 0 ? [JOB] : [] });
    expect(await redis.zscore(account.keys.due, JOB)).toBe(String(NOW + delayMs));
    expect(await redis.hget(account.keys.push, `j:${JOB}`)).toBe(`t1\n${NOW}\n0\n0`);
  });

  test('is not made for an account that is not scheduled: nothing is done yet', async () => {
    const account = await makeAccount(redis);
    await subscribe(account);
    expect(await account.offer({ pushes: 'unscheduled' })).toMatchObject({ openJson: '', jobs: null });
    expect(await account.logged()).toEqual([]);
    expect(await account.offer()).toMatchObject({ jobs: [] });
    expect(await redis.zscore(account.keys.due, JOB)).toBeNull();
  });
});

describe('an offer that comes again', () => {
  test('with the key of its client has the first answer, with the streams that are open now', async () => {
    const account = await makeAccount(redis);
    await account.offer({ rememberSeconds: 600 });
    await redis.del(account.keys.routes);
    const again = await account.offer({ rememberSeconds: 600, transferId: 't2', pushes: 'scheduled' });
    expect(again).toEqual({
      ...{ openJson: OFFERED, receiver: 'phone', routes: [], jobs: [], evict: [], announced: [], isRepeated: true },
    });
    expect(await account.logged()).toHaveLength(1);
  });

  test('with the key of its client and another body is refused', async () => {
    const account = await makeAccount(redis);
    await account.offer({ rememberSeconds: 600 });
    const other = account.offer({ rememberSeconds: 600, fingerprint: 'other body' });
    await expect(other).rejects.toMatchObject({ code: 'idempotency_key_reused' });
  });

  test('with the key of a message is refused, also with the same body', async () => {
    const account = await makeAccount(redis);
    await redis.set(account.keys.operation, JSON.stringify(['body', 'OK', 'm1', String(NOW), '[]']));
    const offered = account.offer({ rememberSeconds: 600 });
    await expect(offered).rejects.toMatchObject({ code: 'idempotency_key_reused' });
    expect(await account.logged()).toEqual([]);
  });

  test('without a key is answered from its record', async () => {
    const account = await makeAccount(redis);
    const send = account.prepare();
    await send();
    expect(await send(500)).toEqual({
      ...{ openJson: OFFERED, receiver: 'phone', routes: [{ channel: 'bus:watch', device: '~Watch' }], jobs: [] },
      ...{ evict: [], announced: [], isRepeated: true },
    });
    expect(await account.logged()).toHaveLength(1);
  });

  test('and was not carried out is carried out, and its answer is kept for the last copy', async () => {
    const account = await makeAccount(redis);
    const reply = await account.prepare()(500);
    expect(reply).toMatchObject({ openJson: OFFERED });
    expect(reply).not.toHaveProperty('isRepeated');
    expect(JSON.parse((await redis.get(account.keys.operation)) ?? '')).toEqual(['body', 'OK', OFFERED, 'phone', '[]']);
  });
});
