import { once } from 'node:events';
import { connect } from 'node:net';
import { makeDevice, randomUser } from '../support/device.ts';
import { randomPrefix, sharedRedisUrl } from '../support/redis/redis.ts';
import { until } from '../support/redis/redis-processes.ts';
import { type ReplicaProcess, startReplica, stopReplicas } from '../support/replicas.ts';

const options = { redisUrl: sharedRedisUrl(), keyPrefix: randomPrefix() };

const isOnline = ({ online }: { online: boolean }): boolean => online;

afterEach(stopReplicas);

// Proves G4, G7, G25.
test('a rolling restart under load loses no message, shows nobody offline, and every replica exits with 0', async () => {
  const env = { APP_DRAIN_SECONDS: '1', APP_HUB_HEARTBEAT_MS: '100' };
  const start = () => startReplica({ ...options, env });
  let [one, two]: ReplicaProcess[] = await Promise.all([start(), start()]);
  const serving = () => [one, two].filter((replica) => replica !== undefined);
  let leaving: ReplicaProcess | undefined;
  // Acts like a balancer: any replica but the one that is leaving.
  const place = {
    get url() {
      return (serving().find((replica) => replica !== leaving) as ReplicaProcess).url;
    },
  };
  const user = randomUser();
  const laptop = makeDevice({ user, name: 'Laptop' });
  const phone = makeDevice({ user, name: 'Phone' });
  const onLaptop = laptop.listen(place);
  await onLaptop.next('ready');
  const onPhone = phone.listen(place);
  // A device that has just joined is offline until its stream is attached. From here on no device is offline.
  await onLaptop.next('presence', ({ data: { devices } }) => devices.length === 2 && devices.every(isOnline));
  await onPhone.next('ready');
  const atStart = onLaptop.events.length;

  let sending = true;
  const sent: string[] = [];
  const load = (async () => {
    while (sending) {
      const content = `message ${sent.length}`;
      await laptop.on(place).call('sendMessage', { body: { to: 'Phone', content } });
      sent.push(content);
      const { data } = await onPhone.next('message', (event) => event.data.content === content);
      await phone.on(place).call('ackMessages', { body: { message_ids: [data.message_id] } });
      // The load is some ten messages a second for as long as the restart takes. More would prove nothing more.
      const ackedAt = performance.now();
      await onPhone.next('ping', ({ at }) => at > ackedAt);
    }
  })();
  const exitCodes: (number | null)[] = [];
  for (const old of [one, two]) {
    leaving = old;
    const fresh = await start();
    exitCodes.push((await old?.stop()) ?? null);
    if (old === one) one = fresh;
    else two = fresh;
  }
  sending = false;
  await load;

  expect(exitCodes).toEqual([0, 0]);
  const received = onPhone.events.filter(({ name }) => name === 'message');
  expect(received.map(({ data }) => (data as { content: string }).content)).toEqual(sent);
  const readies = onPhone.events.filter(({ name }) => name === 'ready').slice(1);
  expect(readies.length).toBeGreaterThan(0);
  for (const { data } of readies) expect(data).toMatchObject({ resumed: true });
  const seenOffline = onLaptop.events
    .slice(atStart)
    .filter(({ name, data }) => name === 'presence' && !data.devices.every(isOnline));
  expect(seenOffline).toEqual([]);
  await Promise.all([onLaptop.stop(), onPhone.stop()]);
}, 240_000);

test('a client that never reads is ended, and holds no more memory than its bounds until then', async () => {
  const replica = await startReplica(options);
  const user = randomUser();
  const laptop = makeDevice({ user, name: 'Laptop' });
  const phone = makeDevice({ user, name: 'Phone' });
  await phone.on(replica).call('listDevices');
  const { hostname, port } = new URL(replica.url);
  const paused = connect(Number(port), hostname).pause();
  const headers = Object.entries(phone.headers).map(([name, value]) => `${name}: ${value}\r\n`);
  paused.write(`GET /api/hub/events HTTP/1.1\r\nHost: localhost\r\n${headers.join('')}\r\n`);
  paused.on('error', () => undefined);
  const isPhoneOnline = async () => {
    const { devices } = (await laptop.on(replica).call('getPresence')).body;
    return devices.some(({ name, online }) => name === 'Phone' && online);
  };
  await until(isPhoneOnline, (online) => online, 'the phone to be online');

  const payload = 'x'.repeat(16_000);
  const buffered = async () => {
    const text = await (await fetch(`${replica.adminUrl}/metrics`)).text();
    return Number(/^baton_stream_buffer_bytes (\d+)/m.exec(text)?.[1]);
  };
  let most = 0;
  // The signals add up to 6 MB, more than the kernel takes. Signals are the longest events that nobody has to
  // acknowledge.
  for (let i = 0; i < 400; i++) {
    await laptop.on(replica).call('sendSignal', { body: { to: 'Phone', kind: 'candidate', payload } });
    if (i % 25 === 0) most = Math.max(most, await buffered());
  }
  const closed = once(paused, 'close');
  // Its last frame is in the socket. Reading that frame shows that the replica has ended the stream.
  await until(isPhoneOnline, (online) => !online, 'the phone to be offline');
  paused.resume();
  await closed;

  expect(most).toBeLessThan(600 * 1024);
  expect(await buffered()).toBe(0);
}, 240_000);
