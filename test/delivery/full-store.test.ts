import type { Redis } from 'ioredis';
import { BatonError } from '../../shared/contract/errors.ts';
import type { Deletion, MemberProof } from '../../shared/contract/modules/keys.ts';
import { makeDevice, randomUser } from '../support/device.ts';
import { type OwnRedis, startOwnRedis } from '../support/redis/own-redis.ts';
import { connectTo } from '../support/redis/redis.ts';
import { keyed, makeRing, signParts } from '../support/sealed/keyring.ts';
import { expectProblem, request } from '../support/wire.ts';
import { until } from '../support/redis/redis-processes.ts';
import { append, read } from '../relay/support/asking.ts';
import { relayFiles, someBytes } from '../relay/support/relayed.ts';
import { type ReplicaProcess, startReplica, stopReplicas } from '../support/replicas.ts';

/* A store that has no space left: at its maxmemory, and with a full disk under its append-only file. */

const SERVICE = 'https://baton.example';

let redis: OwnRedis;
let toRedis: Redis;
let one: ReplicaProcess;
let two: ReplicaProcess;

const start = () =>
  startReplica({
    redisUrl: redis.url,
    keyPrefix: 'baton',
    env: { APP_HUB_OFFLINE_GRACE_MS: '1000', APP_SERVICE_ID: SERVICE },
  });

async function startAll(options: Parameters<typeof startOwnRedis>[0]): Promise<void> {
  redis = await startOwnRedis(options);
  toRedis = connectTo(redis.url);
  [one, two] = await Promise.all([start(), start()]);
}

afterEach(async () => {
  await stopReplicas();
  toRedis.disconnect();
  await redis.stop();
});

/**
 * Makes two devices with streams on two replicas. The phone has an unacknowledged message, and there is a clipboard.
 */
async function startPair() {
  const user = randomUser();
  const laptop = makeDevice({ user, name: 'Laptop' });
  const phone = makeDevice({ user, name: 'Phone' });
  const [onLaptop, onPhone] = [laptop.listen(one), phone.listen(two)];
  await Promise.all([onLaptop.next('ready'), onPhone.next('ready')]);
  const send = (content: string) => laptop.on(one).call('sendMessage', { body: { to: 'Phone', content }, retries: 0 });
  const copy = (content: string) =>
    laptop.on(one).call('setClipboard', { body: { content, content_type: 'text/plain' }, retries: 0 });
  await send('before');
  await copy('copied');
  await onPhone.next('message', ({ data }) => data.content === 'before');
  await onPhone.next('clipboard');
  const stop = () => Promise.all([onLaptop.stop(), onPhone.stop()]);
  return { user, laptop, phone, onLaptop, onPhone, send, copy, stop };
}

type Pair = Awaited<ReturnType<typeof startPair>>;

/** Writes until the store refuses more. */
async function fill(): Promise<void> {
  const part = 'x'.repeat(50_000);
  const write = (number: number) =>
    toRedis.set(`filling:${number}`, part).then(
      () => false,
      () => true,
    );
  let number = 0;
  await until(() => write(number++), Boolean, 'the store to be full');
}

async function expectRefused({ send, copy }: Pair, sentence: RegExp): Promise<void> {
  for (const write of [send('lost'), copy('lost')]) {
    const error = await write.catch((failure: unknown) => failure);
    expect(error).toBeInstanceOf(BatonError);
    expect(error).toMatchObject({ code: 'store_full', status: 503, message: expect.stringMatching(sentence) });
  }
}

async function expectReadable({ laptop, phone }: Pair): Promise<void> {
  expect((await phone.on(two).call('listMessages', {})).body.messages).toMatchObject([{ content: 'before' }]);
  expect((await phone.on(two).call('getClipboard')).body).toMatchObject({ content: 'copied' });
  expect((await laptop.on(one).call('getPresence')).body.devices).toHaveLength(2);
  expect((await laptop.on(one).call('listDevices')).body.devices).toHaveLength(2);
}

const usedBytes = async () => Number(/used_memory:(\d+)/.exec(await toRedis.info('memory'))?.[1]);

const statusOf = async ({ adminUrl }: ReplicaProcess) => {
  const { store } = (await (await fetch(`${adminUrl}/statusz`)).json()) as {
    store: { up: boolean; reason: string | null };
  };
  return store;
};

test('at maxmemory what is there is read, acknowledged, cleared and removed; streams and replicas come and go', async () => {
  await startAll({ persistent: false });
  const pair = await startPair();
  const { user, laptop, phone, onLaptop, onPhone } = pair;
  // The limit is below the used memory by more than the buffers of clients vary.
  await toRedis.config('SET', 'maxmemory', String((await usedBytes()) - 500_000));

  await expectRefused(pair, /its memory is used up/);
  await expectReadable(pair);
  const tablet = makeDevice({ user, name: 'Phone' });
  expect(
    await tablet
      .on(one)
      .call('getMe', { retries: 0 })
      .catch((error: unknown) => error),
  ).toMatchObject({
    code: 'store_full',
  });

  const three = await start();
  const again = phone.listen(three);
  await again.next('ready');
  const { body: mailbox } = await phone.on(two).call('listMessages', {});
  const ids = mailbox.messages.map(({ message_id }) => message_id);
  expect((await phone.on(two).call('ackMessages', { body: { message_ids: ids } })).body.acked).toBe(1);
  await onLaptop.next('message:delivered', ({ data }) => data.message_ids[0] === ids[0]);
  await laptop.on(one).call('clearClipboard');
  await Promise.all([onPhone.next('clipboard:cleared'), again.next('clipboard:cleared')]);

  await Promise.all([again.stop(), onPhone.stop()]);
  await onLaptop.next('presence', ({ data }) => data.devices.some(({ name, online }) => name === 'Phone' && !online));
  await laptop.on(one).call('removeDevice', { params: { device_id: phone.id } });
  await onLaptop.next('device:removed', ({ data }) => data.device_id === phone.id);
  expect(await toRedis.zscore('baton:{sys}:revoked', `${user} ${phone.id}`)).not.toBeNull();
  expect(await statusOf(one)).toMatchObject({ up: true, reason: null });

  await toRedis.config('SET', 'maxmemory', '0');
  const desk = makeDevice({ user, name: 'Desk' });
  const onDesk = desk.listen(two);
  await onDesk.next('ready');
  await laptop.on(one).call('sendMessage', { body: { to: 'Desk', content: 'after' } });
  await onDesk.next('message', ({ data }) => data.content === 'after');
  expect(onLaptop.events.filter(({ name }) => name === 'degraded')).toEqual([]);
  await Promise.all([onLaptop.stop(), onDesk.stop()]);
});

test('at maxmemory a member still objects to the removal of the rings, and removes them and the account', async () => {
  await startAll({ persistent: false });
  const laptop = makeDevice({ user: randomUser(), name: 'Laptop' });
  await laptop.on(one).call('getMe');
  const own = keyed(laptop);
  const account = { service: SERVICE, user: laptop.user };
  const ask = (method: string, path: string, body?: unknown) =>
    request(one, { method, path, headers: { ...laptop.headers, 'If-Match': '"0"' }, body });
  const prove = (label: string, ...more: string[]): MemberProof => ({
    device_id: own.id,
    n: 1,
    signature: signParts(own, [label, account.service, account.user, '1', ...more]),
  });
  const { text } = makeRing(account, { by: own, members: [own] });
  const putRing = () => ask('PUT', '/api/keys', { ring: text });
  const fillUp = async () => toRedis.config('SET', 'maxmemory', String((await usedBytes()) - 500_000));
  expect((await putRing()).status).toBe(200);
  await fillUp();

  const announced = await ask('DELETE', '/api/keys');
  expect(announced.status).toBe(202);
  const { at } = (announced.body as { deletion: Deletion }).deletion;
  expect((await ask('POST', '/api/keys/keep', prove('baton/1 keys keep', String(at)))).status).toBe(204);
  expect((await ask('GET', '/api/keys')).body).toMatchObject({ n: 1, deletions: [] });
  expect((await ask('DELETE', '/api/keys', prove('baton/1 keys delete'))).status).toBe(204);
  expectProblem(await putRing(), 'store_full');

  await toRedis.config('SET', 'maxmemory', '0');
  expect((await putRing()).status).toBe(200);
  await fillUp();
  expect((await ask('DELETE', '/api/me/data')).status).toBe(202);
  expect((await ask('DELETE', '/api/me/data', prove('baton/1 erase'))).status).toBe(204);
  expect(await toRedis.exists(`baton:{${laptop.user}}:keys`)).toBe(0);
});

test('with a full disk what is there is read and replicas are ready; with space again all goes on', async () => {
  await startAll({ diskBytes: 2_000_000 });
  const pair = await startPair();
  const { onLaptop, onPhone, send, stop } = pair;
  await fill();
  await expect(toRedis.ping()).rejects.toThrow('MISCONF');

  await expectRefused(pair, /cannot write to its disk/);
  const said = await until(
    () => statusOf(one),
    ({ reason }) => reason !== null,
    'the replica to say why',
  );
  expect(said).toMatchObject({ up: true, reason: expect.stringMatching(/cannot write to its disk.*MISCONF/) });
  await expectReadable(pair);
  expect((await fetch(`${one.adminUrl}/readyz`)).status).toBe(200);
  // A replica that starts now serves what can be read, and gets a lease as soon as there is space.
  await start();

  redis.clearDisk();
  const isTaken = () =>
    send('after').then(
      () => true,
      () => false,
    );
  await until(isTaken, Boolean, 'the store to take something');
  await onPhone.next('message', ({ data }) => data.content === 'after');
  await until(
    () => statusOf(one),
    ({ reason }) => reason === null,
    'the replica to be content',
  );
  for (const { events } of [onLaptop, onPhone]) {
    expect(events.filter(({ name }) => name === 'degraded' || name === 'reconnect')).toEqual([]);
  }
  await stop();
});

test('with a full disk a relayed file waits, and is whole when there is space again', async () => {
  await startAll({ diskBytes: 2_000_000 });
  const bytes = someBytes(200_000);
  const relayed = await relayFiles(one, { sizes: [bytes.length] });
  const first = await append(relayed, one, { offset: 0, body: bytes.subarray(0, 100_000) });
  expect(first.status).toBe(204);
  await fill();

  const rest = { offset: 100_000, body: bytes.subarray(100_000), complete: true };
  expectProblem(await append(relayed, one, rest), 'store_full');
  const refused = await read(relayed, two);
  expect(refused.answer.status).toBe(503);
  expect(JSON.parse(refused.bytes.toString())).toMatchObject({ code: 'store_full', status: 503 });

  redis.clearDisk();
  const isTaken = async () => (await append(relayed, one, rest)).status < 300;
  await until(isTaken, Boolean, 'the store to take the rest');
  expect((await read(relayed, two)).bytes.equals(bytes)).toBe(true);
});
