import { makeDevice, randomUser, type TestDevice } from '../support/device.ts';
import { connectTo, randomPrefix, sharedRedisUrl } from '../support/redis/redis.ts';
import { type ReplicaProcess, startReplica, stopReplicas } from '../support/replicas.ts';
import type { Recorder } from '../support/stream-recorder.ts';

const options = { redisUrl: sharedRedisUrl(), keyPrefix: randomPrefix(), env: { APP_HUB_HEARTBEAT_MS: '200' } };
let one: ReplicaProcess;
let two: ReplicaProcess;

beforeAll(async () => {
  [one, two] = await Promise.all([startReplica(options), startReplica(options)]);
});
afterAll(stopReplicas);

const contents = (recorder: Recorder): string[] =>
  recorder.events.filter(({ name }) => name === 'message').map(({ data }) => (data as { content: string }).content);

async function sendMany(from: TestDevice, to: string, count: number): Promise<void> {
  for (let i = 0; i < count; i++) await from.on(one).call('sendMessage', { body: { to, content: `${to} ${i}` } });
}

/** Makes two devices and a third one that they talk to, all known to the account. */
async function makeTrio() {
  const user = randomUser();
  const devices = ['Laptop', 'Phone', 'Tablet'].map((name) => makeDevice({ user, name }));
  for (const device of devices) await device.on(one).call('listDevices');
  return devices as [TestDevice, TestDevice, TestDevice];
}

// Proves G1, G2.
test('a stream resumes on the other replica with no gap and no event twice', async () => {
  const [laptop, phone] = await makeTrio();
  const first = phone.listen(one);
  await first.next('ready');
  await sendMany(laptop, 'Phone', 20);
  await first.next('message', ({ data }) => data.content === 'Phone 19');
  await first.stop();
  for (let i = 20; i < 40; i++) {
    await laptop.on(one).call('sendMessage', { body: { to: 'Phone', content: `Phone ${i}` } });
  }

  const second = phone.listen(two, first.stream.lastEventId ?? '');
  const { data: ready } = await second.next('ready');
  await second.next('message', ({ data }) => data.content === 'Phone 39' && !data.redelivered);

  expect(ready.resumed).toBe(true);
  const fresh = second.events.filter(({ name, id }) => name === 'message' && id !== null);
  expect(fresh.map(({ data }) => (data as { content: string }).content)).toEqual(
    Array.from({ length: 20 }, (_, i) => `Phone ${20 + i}`),
  );
  await second.stop();
});

test('a device that was quiet while others talked, and away for a moment, resumes without a reset', async () => {
  const [laptop, phone, tablet] = await makeTrio();
  const quiet = phone.listen(two);
  await quiet.next('ready');
  const talking = tablet.listen(one);
  await talking.next('ready');
  // The log holds fewer events than this, and none is for the phone. Its only new positions are those of pings.
  for (let i = 0; i < 300; i++) {
    await laptop.on(one).call('sendMessage', { body: { to: 'Tablet', content: String(i) } });
    const { data } = await talking.next('message');
    await tablet.on(one).call('ackMessages', { body: { message_ids: [data.message_id] } });
  }
  const { id: last } = await quiet.next('ping', ({ at }) => at > performance.now() - 150);
  await quiet.stop();
  await laptop.on(one).call('sendMessage', { body: { to: 'Phone', content: 'you were away' } });

  const back = phone.listen(one, quiet.stream.lastEventId ?? last ?? '');
  const { data: ready } = await back.next('ready');
  await back.next('message', ({ data }) => data.content === 'you were away');

  expect(ready.resumed).toBe(true);
  expect(contents(back)).toEqual(['you were away']);
  await Promise.all([back.stop(), talking.stop()]);
});

// Proves G1, G28.
test('a position is valid as long as nothing after it was trimmed, and one event later it is not', async () => {
  const [laptop, phone] = await makeTrio();
  const reader = phone.listen(two);
  const { id: position } = await reader.next('ready');
  await reader.stop();
  await sendMany(laptop, 'Tablet', 256);
  const atTheEdge = phone.listen(two, position ?? '');
  const { data: stillValid } = await atTheEdge.next('ready');
  await atTheEdge.stop();
  await laptop.on(one).call('sendMessage', { body: { to: 'Tablet', content: 'one more' } });
  const beyond = phone.listen(two, position ?? '');
  const { data: gone } = await beyond.next('ready');

  expect(stillValid.resumed).toBe(true);
  expect(gone).toMatchObject({ resumed: false, reason: 'expired' });
  await beyond.stop();
});

test.each([
  ['store_lost', 'an hour', 3_600_000],
  ['expired', 'more than a day', 90_000_000],
])('where there is no log the reason is %s for a position of %s ago', async (reason, _, agoMs) => {
  const [, phone] = await makeTrio();
  const redis = connectTo(sharedRedisUrl());
  await redis.del(`${options.keyPrefix}:{${phone.user}}:log`);
  redis.disconnect();
  const stream = phone.listen(one, `${Date.now() - agoMs}-1`);
  expect((await stream.next('ready')).data).toMatchObject({ resumed: false, reason });
  await stream.stop();
});

test.each(['nonsense', '0-0', '99999999999999-1', '1-1', '-', '1'])(
  'the position %p is answered by a reset',
  async (bad) => {
    const [, phone] = await makeTrio();
    const stream = phone.listen(one, bad);

    const { data, id } = await stream.next('ready');

    expect(data.resumed).toBe(false);
    expect(['expired', 'gap', 'store_lost']).toContain(data.reason);
    expect(id).toMatch(/^\d+-\d+$/);
    await stream.stop();
  },
);
