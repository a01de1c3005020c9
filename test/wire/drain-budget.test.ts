import { makeDevice, randomUser } from '../support/device.ts';
import { randomPrefix, sharedRedisUrl } from '../support/redis/redis.ts';
import { until } from '../support/redis/redis-processes.ts';
import { type ReplicaProcess, startReplica, stopReplicas } from '../support/replicas.ts';
import { recordStream } from '../support/stream-recorder.ts';

/* How long a replica takes to stop, with the default drains. */

/** Less than any of the waits that are skipped here. */
const SOON_MS = 4_000;

const DEFAULTS = { APP_DRAIN_SECONDS: '', APP_DRAIN_TRANSFER_SECONDS: '' };

afterEach(stopReplicas);

const startWith = (env: Record<string, string> = {}) =>
  startReplica({ redisUrl: sharedRedisUrl(), keyPrefix: randomPrefix(), env: { ...DEFAULTS, ...env } });

async function stop(replica: ReplicaProcess): Promise<{ code: number | null; tookMs: number }> {
  const before = performance.now();
  const code = await replica.stop();
  return { code, tookMs: performance.now() - before };
}

const readiness = async ({ adminUrl }: ReplicaProcess) => (await fetch(`${adminUrl}/readyz`)).status;

test('a replica that nobody uses stops within seconds', async () => {
  const { code, tookMs } = await stop(await startWith());
  expect(code).toBe(0);
  expect(tookMs).toBeLessThan(SOON_MS);
});

test('a replica that is used says that it is not ready, and goes on taking requests until every balancer knows', async () => {
  const replica = await startWith({ APP_DRAIN_NOTICE_SECONDS: '5' });
  const device = makeDevice({ user: randomUser() });
  await device.on(replica).call('getMe');
  const stopped = stop(replica);
  await until(
    () => readiness(replica),
    (status) => status === 503,
    'the replica to say that it is not ready',
  );
  const redAt = performance.now();
  let answered = 0;
  while (performance.now() - redAt < 3_000) {
    expect((await device.on(replica).call('getMe')).status).toBe(200);
    answered += 1;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  expect(answered).toBeGreaterThan(0);
  const { code, tookMs } = await stopped;
  expect(code).toBe(0);
  expect(tookMs).toBeGreaterThan(4_900);
});

test('whatever is open, a replica is gone before whoever stops it loses patience', async () => {
  const replica = await startWith({ APP_SHUTDOWN_SECONDS: '6' });
  const stream = recordStream({ baseUrl: replica.url, headers: makeDevice({ user: randomUser() }).headers });
  await stream.next('ready');
  const { code, tookMs } = await stop(replica);
  expect(code).toBe(0);
  expect(tookMs).toBeLessThan(6_000);
  expect((await stream.next('reconnect')).data).toMatchObject({ reason: 'draining' });
  await stream.stop();
});
