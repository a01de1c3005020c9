import type { Redis } from 'ioredis';
import { LIMITS } from '../../../../shared/contract/limits.ts';
import { RATES } from '../../../../shared/contract/rates.ts';
import { connectTo, sharedRedisUrl } from '../../../support/redis/redis.ts';
import { NOW } from '../../../support/redis/still-clock.ts';
import { makeAccount } from './account.ts';

let redis: Redis;

beforeAll(() => {
  redis = connectTo(sharedRedisUrl());
});
afterAll(() => redis.disconnect());

const jsonOf = (from: string, name: string, id = 'm1') =>
  `{"message_id":"${id}","from_device_id":${from},"from_name":"${name}","content":"hello","created_at":${NOW}`;
const MINUTE = String(Math.floor(NOW / 60_000));

describe('a message', () => {
  test('is logged by its id, kept with its text in the mailbox, and announced with both', async () => {
    const account = await makeAccount(redis);
    await account.stream('s1', 'bus:a', 'tablet');
    const { announced, ...reply } = await account.send({ fromName: 'Ignored' });
    expect(reply).toEqual({
      ...{ messageId: 'm1', createdAtMs: NOW, targets: [['phone', 'Phone', '', false]] },
      ...{ routes: [{ channel: 'bus:a', device: 'tablet' }], jobs: [] },
    });
    const [id, entry] = (await account.logged())[0] ?? ['', []];
    expect(entry).toEqual(['p', '', 'e', 'message', 't', 'phone', 'd', 'm1', 's', '2']);
    expect(await account.inbox()).toEqual([`phone:${id}:m1`]);
    const open = jsonOf('"laptop"', 'Laptop');
    expect(await redis.hgetall(account.keys.mail)).toEqual({
      ...{ m1: `${id}\nlaptop\n7\n1\n${open}`, bytes: '7', purged: MINUTE },
    });
    const fields = ['e', account.name, id, '', 'message', 'phone', NOW, `${open},"redelivered":false}`];
    expect(announced).toEqual([{ channel: 'bus:a', label: 'message', payload: fields.join('\n') }]);
    expect(await redis.exists(account.keys.operation)).toBe(0);
  });

  test('from a sender without a device has the name that it gives', async () => {
    const account = await makeAccount(redis);
    await account.send({ sender: '', fromName: 'Desk' });
    expect(await redis.hget(account.keys.mail, 'm1')).toMatch(jsonOf('null', 'Desk'));
  });

  test('from a device without a row is refused', async () => {
    const account = await makeAccount(redis);
    await expect(account.send({ sender: 'removed' })).rejects.toMatchObject({ code: 'device_required' });
    expect(await account.logged()).toEqual([]);
  });

  test('counts against the rate of its device', async () => {
    const account = await makeAccount(redis);
    await redis.set(account.keys.rate, RATES.message.limit, 'EX', 60);
    await expect(account.send()).rejects.toMatchObject({ code: 'rate_limited' });
    expect(await account.logged()).toEqual([]);
  });
});

describe('a message is for', () => {
  test.each([
    ['all other devices', '*', ['phone', 'tablet']],
    ['one device by its id', '=tablet', ['tablet']],
    ['one device by its name', '~Phone', ['phone']],
    ['oneself, by id', '=laptop', ['laptop']],
  ])('%s', async (_, wanted, ids) => {
    const account = await makeAccount(redis);
    await account.devices({ tablet: 'Tablet' });
    const { targets } = await account.send({ wanted });
    expect(targets?.map(([id]) => id).toSorted()).toEqual(ids);
    expect((await account.inbox()).map((member) => member.split(':')[0])).toEqual(ids);
  });

  test('a stream without a device, by its name: it is in the log with its text, and in no mailbox', async () => {
    const account = await makeAccount(redis);
    await account.stream('s1', 'bus:a', '~Desk');
    expect(await account.send({ wanted: '~Desk' })).toMatchObject({ targets: [['', 'Desk', '', false]] });
    const [[, entry] = []] = await account.logged();
    expect(entry?.slice(4, 8)).toEqual(['t', '~Desk', 'd', `${jsonOf('"laptop"', 'Laptop')},"redelivered":false}`]);
    expect(await redis.exists(account.keys.mail, account.keys.inbox)).toBe(0);
  });

  test.each([
    ['nobody has the id', '=nobody', 'not_found'],
    ['nobody has the name', '~Nobody', 'not_found'],
    ['two names look like it', '~TABLET', 'name_taken'],
  ])('nobody where %s', async (_, wanted, code) => {
    const account = await makeAccount(redis);
    await account.devices({ t1: 'Tablet', t2: 'tablet' });
    await expect(account.send({ wanted })).rejects.toMatchObject({ code });
    expect(await account.logged()).toEqual([]);
  });

  test('nobody else in an account with one device', async () => {
    const account = await makeAccount(redis);
    await redis.hdel(account.keys.devices, 'phone');
    await expect(account.send({ wanted: '*' })).rejects.toMatchObject({ code: 'not_found' });
  });
});

describe('a mailbox is full', () => {
  test.each([
    [LIMITS.mailboxMessages - 1, ''],
    [LIMITS.mailboxMessages, 'mailbox_full'],
  ])('with as many messages as it may have: %d', async (count, error) => {
    const account = await makeAccount(redis);
    await account.devices({ tablet: 'Tablet' });
    await redis.hset(account.keys.mail, 'bytes', 1, 'purged', MINUTE);
    await account.fill('phone', count);
    await account.fill('tablet', 1);
    const { targets } = await account.send({ wanted: '*' });
    expect(targets?.toSorted()).toEqual([
      ['phone', 'Phone', error, false],
      ['tablet', 'Tablet', '', false],
    ]);
    const holders = error === '' ? ['phone', 'tablet'] : ['tablet'];
    expect(
      (await account.inbox()).filter((member) => member.endsWith(':m1')).map((each) => each.split(':')[0]),
    ).toEqual(holders);
    const [[, entry] = []] = await account.logged();
    expect(entry?.[5]?.split('\t').toSorted()).toEqual(holders);
  });

  test.each([
    [LIMITS.mailboxBytes - 7, false],
    [LIMITS.mailboxBytes - 6, true],
  ])('when all mailboxes together have as many bytes as they may: %d', async (bytes, isFull) => {
    const account = await makeAccount(redis);
    await redis.hset(account.keys.mail, 'bytes', bytes, 'purged', MINUTE);
    const sent = account.send();
    if (isFull) await expect(sent).rejects.toMatchObject({ code: 'mailbox_full' });
    else expect(await sent).toMatchObject({ targets: [['phone', 'Phone', '', false]] });
    expect(await account.logged()).toHaveLength(isFull ? 0 : 1);
  });

  test('for all: a message to all says so for each, and is not logged', async () => {
    const account = await makeAccount(redis);
    await redis.hset(account.keys.mail, 'bytes', LIMITS.mailboxBytes, 'purged', MINUTE);
    expect(await account.send({ wanted: '*' })).toMatchObject({
      ...{ messageId: 'm1', targets: [['phone', 'Phone', 'mailbox_full', false]], announced: [] },
    });
    expect(await account.logged()).toEqual([]);
  });
});

describe('a push', () => {
  test('is made at once for a device without a stream', async () => {
    const account = await makeAccount(redis);
    await account.subscribe('phone');
    const job = 'push:web:message:phone:laptop';
    expect(await account.send({ pushes: 'scheduled' })).toMatchObject({
      ...{ targets: [['phone', 'Phone', '', true]], jobs: [job] },
    });
    expect(await redis.zscore(account.keys.due, job)).toBe(String(NOW));
    expect(await redis.hget(account.keys.push, `j:${job}`)).toBe(`m1\n${NOW}\n0\n0`);
  });

  test.each([
    ['waits for a device whose stream may still deliver', [], false],
    ['does not wait when that stream is on a dead replica', ['bus:a'], true],
  ])('%s', async (_, dead, isPushed) => {
    const account = await makeAccount(redis);
    await account.subscribe('phone');
    await account.stream('s1', 'bus:a', 'phone');
    const job = 'push:web:message:phone:laptop';
    expect(await account.send({ pushes: 'scheduled', dead })).toMatchObject({
      ...{ targets: [['phone', 'Phone', '', isPushed]], jobs: isPushed ? [job] : [] },
    });
    expect(await redis.zscore(account.keys.due, job)).toBe(String(NOW + (isPushed ? 0 : LIMITS.pushSilenceMs)));
  });

  test('is not made for a device without a subscription', async () => {
    const account = await makeAccount(redis);
    expect(await account.send({ pushes: 'scheduled' })).toMatchObject({ targets: [['phone', 'Phone', '', false]] });
    expect(await redis.exists(account.keys.due)).toBe(0);
  });

  test('is not made for an account that is not scheduled: nothing is done yet', async () => {
    const account = await makeAccount(redis);
    await account.subscribe('phone');
    expect(await account.send({ pushes: 'unscheduled' })).toMatchObject({ messageId: '', jobs: null });
    expect(await account.logged()).toEqual([]);
    expect(await account.send({ pushes: 'off' })).toMatchObject({ messageId: 'm1', jobs: [] });
    expect(await redis.exists(account.keys.due)).toBe(0);
  });
});

describe('a message with a key of its client', () => {
  test.each([[1], [3], [4]])('is answered as before when it comes again, to %d devices', async (count) => {
    const account = await makeAccount(redis);
    const others = Array.from({ length: count - 1 }, (_, i) => [`d${i}`, `Device ${i}`]);
    if (count > 1) await account.devices(Object.fromEntries(others));
    const args = { wanted: '*', rememberSeconds: 600 };
    const { announced: _, ...first } = await account.send(args);
    expect(first.targets).toHaveLength(count);
    await account.stream('s1', 'bus:a', 'phone');
    await redis.hdel(account.keys.devices, 'phone');
    expect(await account.send({ ...args, messageId: 'm2' })).toEqual({
      ...{ ...first, routes: [{ channel: 'bus:a', device: 'phone' }], announced: [], isRepeated: true },
    });
    expect(await account.logged()).toHaveLength(1);
  });

  test('is refused with another body', async () => {
    const account = await makeAccount(redis);
    await account.send({ rememberSeconds: 600 });
    const other = account.send({ rememberSeconds: 600, fingerprint: 'other body' });
    await expect(other).rejects.toMatchObject({ code: 'idempotency_key_reused' });
  });

  test('is accepted when it is sent again and no answer is kept, because then it was not accepted', async () => {
    const account = await makeAccount(redis);
    const send = account.prepare({ rememberSeconds: 600 });
    await send();
    await redis.del(account.keys.operation);
    await send(500);
    expect(await account.logged()).toHaveLength(2);
  });
});

describe('a message that is sent again', () => {
  test('without a key is answered from the log, with the streams that are open now', async () => {
    const account = await makeAccount(redis);
    const send = account.prepare();
    await send();
    await account.stream('s1', 'bus:a', 'phone');
    expect(await send(500)).toEqual({
      ...{ messageId: 'm1', createdAtMs: NOW, targets: [['phone', 'Phone', '', false]] },
      ...{ routes: [{ channel: 'bus:a', device: 'phone' }], jobs: [], announced: [], isRepeated: true },
    });
    expect(await account.logged()).toHaveLength(1);
  });

  test('keeps its answer, for a copy that comes last', async () => {
    const account = await makeAccount(redis);
    await account.prepare()(500);
    expect(JSON.parse((await redis.get(account.keys.operation)) ?? '')).toEqual([
      ...['body', 'OK', 'm1', String(NOW), '[["phone","Phone","",false]]'],
    ]);
  });

  test('is refused when the log has lost what came since', async () => {
    const account = await makeAccount(redis);
    await redis.xadd(account.keys.log, `${NOW}-1`, 'p', `${NOW - 1}-1`, 'e', '', 't', '', 'd', '', 's', '0');
    await expect(account.prepare()(60_000)).rejects.toMatchObject({ code: 'store_unavailable' });
  });
});
