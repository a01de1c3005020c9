import type { Redis } from 'ioredis';
import { expectLifetimes } from '../../../support/redis/lifetime.ts';
import { connectTo, sharedRedisUrl } from '../../../support/redis/redis.ts';
import { NOW } from '../../../support/redis/still-clock.ts';
import { makeAccount as makeMessages } from '../../messages/scripts/account.ts';
import { makeAccount } from './account.ts';

/* Calls that are sent again, because their answer was lost or has not come yet. */

let redis: Redis;

beforeAll(() => {
  redis = connectTo(sharedRedisUrl());
});
afterAll(() => redis.disconnect());

const AGAIN = 500;

describe('a call that is sent again', () => {
  test.each([[0], [30], [31], [32], [63], [64], [100]])(
    'is found in the log, however many entries came after it: %d',
    async (later) => {
      const account = await makeAccount(redis);
      const send = account.prepare();
      await send();
      for (let i = 0; i < later; i++) await account.entry(`${NOW + 1 + i}-1`);
      expect(await send(AGAIN)).toEqual({ receiver: 'phone', routes: [], announced: [], isRepeated: true });
      expect(await account.logged()).toHaveLength(1 + later);
    },
  );

  test('is carried out where the log has only another event of it', async () => {
    const account = await makeAccount(redis);
    const send = account.prepare();
    await send();
    const [[id] = ['']] = await account.logged();
    await redis.del(account.keys.log);
    await account.entry(id, { event: 'other' });
    expect(await send(AGAIN)).toEqual({ receiver: 'phone', routes: [], announced: [] });
    expect(await account.logged()).toHaveLength(2);
  });

  test('is carried out where the log has only the same event of another call', async () => {
    const account = await makeAccount(redis);
    await account.send();
    expect(await account.prepare()(AGAIN)).not.toHaveProperty('isRepeated');
    expect(await account.logged()).toHaveLength(2);
  });

  test.each([
    ['is carried out with an empty log', null, true],
    ['is carried out with a log that has lost nothing', { at: NOW, prev: '' }, true],
    ['is carried out where the log reaches back far enough', { at: NOW - AGAIN - 5_001, prev: '1-1' }, true],
    ['is refused where the log may have lost it', { at: NOW - AGAIN - 5_000, prev: '1-1' }, false],
  ])('%s', async (_, oldest, isCarriedOut) => {
    const account = await makeAccount(redis);
    if (oldest !== null) await account.entry(`${oldest.at}-1`, { prev: oldest.prev });
    const sent = account.prepare()(AGAIN);
    if (isCarriedOut) expect(await sent).not.toHaveProperty('isRepeated');
    else await expect(sent).rejects.toMatchObject({ code: 'store_unavailable', isRepeated: true });
  });

  test('is not looked for in the log when it is sent for the first time', async () => {
    const account = await makeAccount(redis);
    await account.entry(`${NOW}-1`, { prev: '1-1' });
    expect(await account.send()).toMatchObject({ receiver: 'phone' });
    expect(await redis.exists(account.keys.operation)).toBe(0);
  });

  test('keeps its answer for a minute, for the first copy, which may come last', async () => {
    const account = await makeAccount(redis);
    const send = account.prepare();
    await expectLifetimes(redis, () => send(AGAIN), { [account.keys.operation]: 60 });
    await redis.del(account.keys.log);
    expect(await send()).toEqual({ receiver: 'phone', routes: [], announced: [], isRepeated: true });
    expect(await account.logged()).toEqual([]);
  });
});

test('an acknowledgement that is sent again counts all that it acknowledged, to whichever device it said so', async () => {
  const account = await makeMessages(redis);
  await account.devices({ tablet: 'Tablet' });
  await account.send();
  await account.send({ messageId: 'm2' });
  await account.send({ messageId: 'm3', sender: 'tablet' });
  const ack = account.ack(['m1', 'm2', 'm3']);
  expect(await ack()).toMatchObject({ acked: 3 });
  expect(await ack(AGAIN)).toEqual({ acked: 3, announced: [], isRepeated: true });
});

describe('the answer to a message with a key of its client', () => {
  test('is kept for as long as it can be requested', async () => {
    const account = await makeMessages(redis);
    const send = account.prepare({ rememberSeconds: 600 });
    await expectLifetimes(redis, () => send(), { [account.keys.operation]: 600 });
    expect(await send()).toMatchObject({ messageId: 'm1', isRepeated: true });
  });

  test('is not kept without a key', async () => {
    const account = await makeMessages(redis);
    await account.send();
    expect(await redis.exists(account.keys.operation)).toBe(0);
  });

  test('is not that of another body', async () => {
    const account = await makeMessages(redis);
    await account.send({ rememberSeconds: 600 });
    const other = account.send({ rememberSeconds: 600, fingerprint: 'other' });
    await expect(other).rejects.toMatchObject({ code: 'idempotency_key_reused' });
  });

  test('is not that to an offer with the same body', async () => {
    const account = await makeMessages(redis);
    await redis.set(account.keys.operation, JSON.stringify(['body', 'OK', '{"transfer_id":"t1"', 'phone', '[]']));
    const sent = account.send({ rememberSeconds: 600 });
    await expect(sent).rejects.toMatchObject({ code: 'idempotency_key_reused' });
    expect(await account.logged()).toEqual([]);
  });
});
