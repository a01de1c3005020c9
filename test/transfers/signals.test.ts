import type { SendSignal } from '../../shared/contract/modules/signal.ts';
import { connectTo, randomPrefix, sharedRedisUrl } from '../support/redis/redis.ts';
import { makeDevice, randomUser, type TestDevice } from '../support/device.ts';
import { type ReplicaProcess, startReplica, stopReplicas } from '../support/replicas.ts';
import { makeParties, offer } from './parties.ts';

const options = { redisUrl: sharedRedisUrl(), keyPrefix: randomPrefix() };
let one: ReplicaProcess;
let two: ReplicaProcess;

beforeAll(async () => {
  [one, two] = await Promise.all([startReplica(options), startReplica(options)]);
});
afterAll(stopReplicas);

const signal = (device: TestDevice, replica: ReplicaProcess, body: SendSignal) =>
  device.on(replica).call('sendSignal', { body });

// Proves G5.
test('signals reach the other device in the order in which they were sent, by name or by id', async () => {
  const { sender, receiver } = await makeParties(one);
  const onReceiver = receiver.listen(two);
  await onReceiver.next('ready');

  const { body } = await signal(sender, one, { to: 'Receiver', kind: 'offer', payload: { sdp: 'v=0' } });
  for (let i = 0; i < 20; i++) {
    const target = i % 2 ? { to: 'Receiver' } : { to_device_id: receiver.id };
    await signal(sender, i % 3 ? one : two, { ...target, kind: 'candidate', payload: i });
  }
  await onReceiver.next('signal', ({ data }) => data.payload === 19);

  expect(body).toEqual({ delivered: true });
  const received = onReceiver.events.filter(({ name }) => name === 'signal').map(({ data }) => data);
  expect(received[0]).toEqual({
    from_device_id: sender.id,
    from_name: 'Sender',
    transfer_id: null,
    kind: 'offer',
    payload: { sdp: 'v=0' },
  });
  expect(received.slice(1).map((data) => (data as { payload: number }).payload)).toEqual(
    Array.from({ length: 20 }, (_, i) => i),
  );
  await onReceiver.stop();
});

test('a signal to a device that was never there says so', async () => {
  const { sender } = await makeParties(one);

  const { body } = await signal(sender, one, { to: 'Receiver', kind: 'offer', payload: null });

  expect(body).toEqual({ delivered: false });
});

test('a signal is replayed to a device that was away for a moment', async () => {
  const { sender, receiver } = await makeParties(one);
  const first = receiver.listen(two);
  await first.next('ready');
  await first.stop();

  await signal(sender, one, { to: 'Receiver', kind: 'offer', payload: 'hello' });
  const back = receiver.listen(one, first.stream.lastEventId ?? '');
  const { data } = await back.next('signal');

  expect(data).toMatchObject({ kind: 'offer', payload: 'hello' });
  await back.stop();
});

test('a signal older than a minute is not replayed', async () => {
  const { user, sender, receiver } = await makeParties(one);
  const first = receiver.listen(two);
  const { id: position } = await first.next('ready');
  await first.stop();
  await signal(sender, one, { to: 'Receiver', kind: 'offer', payload: 'old' });
  await makeLogOlder(user, position ?? '', 61_000);
  await sender.on(one).call('sendMessage', { body: { to: 'Receiver', content: 'after' } });

  const back = receiver.listen(one, ageOf(position ?? '', 61_000));
  const { data: ready } = await back.next('ready');
  await back.next('message');

  expect(ready.resumed).toBe(true);
  expect(back.events.map(({ name }) => name)).not.toContain('signal');
  await back.stop();
});

const ageOf = (position: string, ms: number): string => position.replace(/^\d+/, (at) => String(Number(at) - ms));

/** Rewrites the account's log with every position `ms` earlier, as if that time had passed. */
async function makeLogOlder(user: string, _from: string, ms: number): Promise<void> {
  const redis = connectTo(options.redisUrl);
  const key = `${options.keyPrefix}:{${user}}:log`;
  const entries = await redis.xrange(key, '-', '+');
  await redis.del(key);
  for (const [id, fields] of entries) {
    const older = fields.map((value, i) => (fields[i - 1] === 'p' && value !== '' ? ageOf(value, ms) : value));
    await redis.xadd(key, ageOf(id, ms), ...older);
  }
  await redis.quit();
}

test('with a transfer only its two parties may signal, in both directions', async () => {
  const parties = await makeParties(one);
  const { sender, receiver, third } = parties;
  const { transfer_id } = await offer(parties, one);
  const onSender = sender.listen(two);
  await onSender.next('ready');

  await signal(receiver, one, { to: 'Sender', kind: 'answer', payload: {}, transfer_id });
  const { data } = await onSender.next('signal');
  const offerTo = (to: string) => ({ to, kind: 'offer' as const, payload: {}, transfer_id });

  expect(data).toMatchObject({ transfer_id, kind: 'answer', from_name: 'Receiver' });
  await expect(signal(third, one, offerTo('Sender'))).rejects.toMatchObject({ code: 'not_a_party' });
  await expect(signal(sender, one, offerTo('Third'))).rejects.toMatchObject({ code: 'not_a_party' });
  await onSender.stop();
});

test('nothing crosses between accounts', async () => {
  const { receiver } = await makeParties(one);
  const stranger = makeDevice({ user: randomUser(), name: 'Stranger' });
  await stranger.on(one).call('listDevices');

  for (const target of [{ to_device_id: receiver.id }, { to: 'Receiver' }]) {
    const sent = signal(stranger, one, { ...target, kind: 'offer', payload: {} });
    await expect(sent).rejects.toMatchObject({ code: 'not_found' });
  }
});

test('a payload of 16 KB passes and one byte more does not', async () => {
  const { sender } = await makeParties(one);
  const payload = 'x'.repeat(16 * 1024 - 2);

  await expect(signal(sender, one, { to: 'Receiver', kind: 'offer', payload })).resolves.toMatchObject({ status: 202 });
  await expect(signal(sender, one, { to: 'Receiver', kind: 'offer', payload: `${payload}x` })).rejects.toMatchObject({
    code: 'body_too_large',
  });
});

test('the six-hundred-and-first signal of a minute is refused, on all replicas together', async () => {
  const env = { APP_RATE_LIMIT_SCALE: '0.01' };
  const limited = await Promise.all([startReplica({ ...options, env }), startReplica({ ...options, env })]);
  const { sender } = await makeParties(one);
  const send = (i: number) =>
    signal(sender, limited[i % 2] as ReplicaProcess, { to: 'Receiver', kind: 'candidate', payload: i });

  for (let i = 0; i < 6; i++) await send(i);

  await expect(
    sender.on(limited[0]).call('sendSignal', {
      body: { to: 'Receiver', kind: 'candidate', payload: 7 },
      retries: 0,
    }),
  ).rejects.toMatchObject({ code: 'rate_limited' });
});
