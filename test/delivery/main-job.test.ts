import { EventEmitter, once } from 'node:events';
import type { Presence } from '../../shared/contract/modules/presence.ts';
import { makeDevice, randomUser } from '../support/device.ts';
import { expectPromised } from '../support/promised.ts';
import { randomPrefix, sharedRedisUrl } from '../support/redis/redis.ts';
import { until } from '../support/redis/redis-processes.ts';
import { type ReplicaProcess, startReplica, stopReplicas } from '../support/replicas.ts';

/** How far the sending may be ahead of the acknowledgements. A stream can resume within 256 events. */
const MOST_AHEAD = 100;

const options = { redisUrl: sharedRedisUrl(), keyPrefix: randomPrefix() };
let one: ReplicaProcess;
let two: ReplicaProcess;

beforeEach(async () => {
  [one, two] = await Promise.all([startReplica(options), startReplica(options)]);
});
afterEach(stopReplicas);

test('devices on different replicas see each other come online and pass a message', async () => {
  const user = randomUser();
  const laptop = makeDevice({ user, name: 'Laptop' });
  const phone = makeDevice({ user, name: 'Phone', type: 'ios' });
  const onLaptop = laptop.listen(one);
  await onLaptop.next('ready');
  const onPhone = phone.listen(two);
  await onPhone.next('ready');

  await onLaptop.next('presence', ({ data }) => data.devices.some(({ name, online }) => name === 'Phone' && online));
  const { body: sent } = await laptop.on(one).call('sendMessage', { body: { to: 'Phone', content: 'hello' } });
  const { data: message } = await onPhone.next('message');
  await phone.on(two).call('ackMessages', { body: { message_ids: [message.message_id] } });
  const { data: delivered } = await onLaptop.next('message:delivered');

  expect(sent.to).toEqual([{ device_id: phone.id, name: 'Phone', online: true, pushed: false }]);
  expect(message).toMatchObject({
    from_device_id: laptop.id,
    from_name: 'Laptop',
    content: 'hello',
    redelivered: false,
  });
  expect(delivered).toMatchObject({ message_ids: [sent.message_id], by_device_id: phone.id, by_name: 'Phone' });
  await Promise.all([onLaptop.stop(), onPhone.stop()]);
});

// Proves G1, G4, G5.
test('a thousand messages arrive once and in order although the receiver’s replica is killed in the middle', async () => {
  const count = 1_000;
  const user = randomUser();
  const laptop = makeDevice({ user, name: 'Laptop' });
  const phone = makeDevice({ user, name: 'Phone' });
  let home = two;
  const place = {
    get url() {
      return home.url;
    },
  };
  const onPhone = phone.listen(place);
  await onPhone.next('ready');
  await laptop.on(one).call('listDevices');

  let acknowledged = 0;
  const news = new EventEmitter();
  const acknowledge = async () => {
    for (let i = 0; i < count; i++) {
      const { data } = await onPhone.next('message');
      await phone.on(one).call('ackMessages', { body: { message_ids: [data.message_id] } });
      acknowledged += 1;
      news.emit('acknowledged');
    }
  };
  const send = async () => {
    for (let i = 0; i < count; i++) {
      if (i === 400) {
        home = one;
        await two.kill();
      }
      while (i - acknowledged >= MOST_AHEAD) await once(news, 'acknowledged');
      await laptop.on(one).call('sendMessage', { body: { to: 'Phone', content: String(i) } });
    }
  };
  await Promise.all([send(), acknowledge()]);

  const messages = onPhone.events.filter(({ name }) => name === 'message');
  expect(messages.map(({ data }) => (data as { content: string }).content)).toEqual(
    Array.from({ length: count }, (_, i) => String(i)),
  );
  const ids = onPhone.events.map(({ id, name }) => (name === 'ping' ? null : id)).filter((id) => id !== null);
  expect(new Set(ids).size).toBe(ids.length);
  const resumed = onPhone.events.filter(({ name }) => name === 'ready');
  expect(resumed.slice(1).map(({ data }) => data)).toEqual([expect.objectContaining({ resumed: true })]);
  await onPhone.stop();
}, 240_000);

// Proves G6.
test('the devices of a killed replica are offline for the others within ten seconds', async () => {
  await expectPromised(10_000, async () => {
    const user = randomUser();
    const doomed = await startReplica(options);
    const onLaptop = makeDevice({ user, name: 'Laptop' }).listen(one);
    await onLaptop.next('ready');
    const onPhone = makeDevice({ user, name: 'Phone' }).listen(doomed);
    const phoneIs = ({ data }: { data: Presence }, isOnline: boolean) =>
      data.devices.some(({ name, online }) => name === 'Phone' && online === isOnline);
    await onLaptop.next('presence', (event) => phoneIs(event, true));

    const killedAt = performance.now();
    await doomed.kill();
    // The phone was offline before too, between its joining and its stream.
    const isGone = (event: { data: Presence; at: number }) => event.at > killedAt && phoneIs(event, false);
    const { at } = await onLaptop.next('presence', isGone, 40_000);
    await Promise.all([onLaptop.stop(), onPhone.stop()]);
    return at - killedAt;
  });
}, 240_000);

test('a replica that was paused for longer than its lease delivers to every stream of it again', async () => {
  const user = randomUser();
  const laptop = makeDevice({ user, name: 'Laptop' });
  const phones = Array.from({ length: 5 }, (_, i) => makeDevice({ user, name: `Phone ${i}` }));
  const onLaptop = laptop.listen(one);
  await onLaptop.next('ready');
  const streams = phones.map((phone) => phone.listen(two));
  await Promise.all(streams.map((stream) => stream.next('ready')));

  await onLaptop.next('presence', ({ data }) => data.devices.filter(({ online }) => online).length === 6);
  two.process.kill('SIGSTOP');
  const pausedAt = performance.now();
  const areGone = ({ data, at }: { data: Presence; at: number }) =>
    at > pausedAt && data.devices.filter(({ online }) => online).length === 1;
  await onLaptop.next('presence', areGone, 40_000);
  const { body: missed } = await laptop.on(one).call('sendMessage', { body: { to: '*', content: 'while you slept' } });
  two.process.kill('SIGCONT');
  await Promise.all(streams.map((s) => s.next('message', ({ data }) => data.message_id === missed.message_id)));
  await onLaptop.next('presence', ({ data }) => data.devices.every(({ online }) => online));
  // They may have been attached first under the replica's old id, which counts as gone until the replica itself has
  // noticed that.
  const live = await until(
    async () => (await laptop.on(one).call('sendMessage', { body: { to: '*', content: 'and now' } })).body,
    ({ to }) => to.length === phones.length && to.every(({ online }) => online),
    'all phones to be reached directly',
  );
  const got = await Promise.all(
    streams.map((s) => s.next('message', ({ data }) => data.message_id === live.message_id)),
  );

  expect(got.map(({ data }) => data.content)).toEqual(phones.map(() => 'and now'));
  await Promise.all([onLaptop, ...streams].map((stream) => stream.stop()));
});
