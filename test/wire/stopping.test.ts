import { once } from 'node:events';
import { connect } from 'node:net';
import { makeDevice, randomUser } from '../support/device.ts';
import { randomPrefix, sharedRedisUrl } from '../support/redis/redis.ts';
import { type ReplicaProcess, startReplica, stopReplicas } from '../support/replicas.ts';
import { recordStream } from '../support/stream-recorder.ts';

/** Below the 5 s after which everything that is still open is cut. */
const SOON_MS = 4_000;

let replica: ReplicaProcess;
beforeEach(async () => {
  replica = await startReplica({ redisUrl: sharedRedisUrl(), keyPrefix: randomPrefix() });
});
afterAll(stopReplicas);

async function stop(): Promise<{ code: number | null; tookMs: number }> {
  const before = performance.now();
  const code = await replica.stop();
  return { code, tookMs: performance.now() - before };
}

function expectSoon({ code, tookMs }: { code: number | null; tookMs: number }): void {
  expect(code).toBe(0);
  expect(tookMs).toBeLessThan(SOON_MS);
}

test('a replica without any connection stops at once, with code 0', async () => {
  expectSoon(await stop());
});

test('a replica does not wait for connections that were opened in advance and never used', async () => {
  const { hostname, port } = new URL(replica.url);
  const unused = connect(Number(port), hostname);
  await once(unused, 'connect');
  const closed = once(unused, 'close');
  expectSoon(await stop());
  await closed;
});

test('a replica does not wait for clients that keep their connection for later', async () => {
  const device = makeDevice({ user: randomUser() });
  await device.on(replica).call('getMe');
  expectSoon(await stop());
});

test('a replica that stops tells its streams so, and when to come back', async () => {
  const { headers } = makeDevice({ user: randomUser() });
  const stream = recordStream({ baseUrl: replica.url, headers });
  await stream.next('ready');
  expectSoon(await stop());
  const { data } = await stream.next('reconnect');
  expect(data).toEqual({ reason: 'draining', retry_ms: expect.any(Number) });
  expect(data.retry_ms).toBeGreaterThan(0);
  await stream.stop();
});

test('a replica ends although something is still open after its stop, and names that', async () => {
  await replica.stop();
  const left = 'data:text/javascript,setInterval(() => undefined, 1_000)';
  replica = await startReplica({
    redisUrl: sharedRedisUrl(),
    keyPrefix: randomPrefix(),
    nodeFlags: [`--import=${left}`],
  });
  await expect(replica.stop()).rejects.toThrow('Something kept a replica');
  expect(replica.process.exitCode).toBe(0);
  const line =
    replica
      .log()
      .split('\n')
      .find((text) => text.includes('still open')) ?? '{}';
  expect(JSON.parse(line)).toMatchObject({ level: 40, open: expect.arrayContaining(['Timeout']) });
});
