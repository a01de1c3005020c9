import { connect } from 'node:net';
import { makeDevice, randomUser } from '../support/device.ts';
import { closeRawStreams, openRawStream, type RawStream } from '../support/raw-stream.ts';
import { randomPrefix, sharedRedisUrl } from '../support/redis.ts';
import { until } from '../support/redis-processes.ts';
import { type ReplicaProcess, startReplica, stopReplicas } from '../support/replicas.ts';

/* How a replica ends streams of its own accord: each at its own moment, and each told when to come back. */

const store = { redisUrl: sharedRedisUrl(), keyPrefix: randomPrefix() };
afterEach(async () => {
  closeRawStreams();
  await stopReplicas();
});

interface Farewell {
  reason: string;
  retryMs: number;
  /** The line for a client without code of ours. */
  retryLine: number;
  atMs: number;
}

/** Resolves when the stream has been told to come back, and has ended. */
async function farewellOf(stream: RawStream): Promise<Farewell> {
  await stream.until(/event: reconnect\n[^]*\n\n/);
  const atMs = performance.now();
  const text = await stream.ended();
  const { reason, retry_ms: retryMs } = JSON.parse(/event: reconnect\ndata: (.*)\n/.exec(text)?.[1] ?? '{}');
  return { reason, retryMs, retryLine: Number(/^retry: (\d+)$/m.exec(text)?.[1]), atMs };
}

const openStreams = (replica: ReplicaProcess, count: number): Promise<RawStream[]> =>
  Promise.all(
    Array.from({ length: count }, async (_, i) => {
      const stream = await openRawStream(replica, makeDevice({ user: randomUser(), name: `Device ${i}` }).headers);
      await stream.until(/event: ready\n/);
      return stream;
    }),
  );

test('a stream is ended when it is old, not before 80 % of its longest life, and goes on where it was', async () => {
  const replica = await startReplica({ ...store, env: { APP_HUB_ROTATE_SECONDS: '2' } });
  const device = makeDevice({ user: randomUser() });
  const startedAt = performance.now();
  const onDevice = device.listen(replica);
  await onDevice.next('ready');
  const { data, at } = await onDevice.next('reconnect');
  const { data: again } = await onDevice.next('ready');

  expect(data).toEqual({ reason: 'rotate', retry_ms: expect.any(Number) });
  expect(at - startedAt).toBeGreaterThanOrEqual(1_600);
  expect(again.resumed).toBe(true);
  await onDevice.stop();
});

test('a client that vanished without a word is gone when the life of its stream is over', async () => {
  const replica = await startReplica({ ...store, env: { APP_HUB_ROTATE_SECONDS: '2' } });
  const user = randomUser();
  const laptop = makeDevice({ user, name: 'Laptop' });
  const phone = makeDevice({ user, name: 'Phone' });
  const { hostname, port } = new URL(replica.url);
  const vanished = connect({ host: hostname, port: Number(port), allowHalfOpen: true }).pause();
  vanished.on('error', () => undefined);
  const headers = Object.entries(phone.headers).map(([name, value]) => `${name}: ${value}\r\n`);
  vanished.write(`GET /api/hub/events HTTP/1.1\r\nHost: localhost\r\n${headers.join('')}\r\n`);
  const isPhoneOnline = async () => {
    const { devices } = (await laptop.on(replica).call('getPresence')).body;
    return devices.some(({ name, online }) => name === 'Phone' && online);
  };

  try {
    expect(await until(isPhoneOnline, (online) => online, 'the phone to be online')).toBe(true);
    expect(await until(isPhoneOnline, (online) => !online, 'the phone to be offline')).toBe(false);
  } finally {
    vanished.destroy();
  }
});

test('a replica that stops ends its streams over the whole of its window, each with a time of its own to come back', async () => {
  const replica = await startReplica({ ...store, env: { APP_DRAIN_SECONDS: '4' } });
  const streams = await openStreams(replica, 60);
  const farewells = Promise.all(streams.map(farewellOf));
  const stopped = replica.stop();
  const told = await farewells;

  expect(await stopped).toBe(0);
  expect(new Set(told.map(({ reason }) => reason))).toEqual(new Set(['draining']));
  const times = told.map(({ atMs }) => atMs);
  expect(Math.max(...times) - Math.min(...times)).toBeGreaterThan(1_000);
  expect(Math.max(...times) - Math.min(...times)).toBeLessThan(10_000);
  for (const { retryMs, retryLine } of told) {
    expect(retryLine).toBe(retryMs);
    expect(retryMs).toBeGreaterThanOrEqual(500);
    expect(retryMs).toBeLessThanOrEqual(3_000);
  }
  expect(new Set(told.map(({ retryMs }) => retryMs)).size).toBeGreaterThan(40);
}, 90_000);
