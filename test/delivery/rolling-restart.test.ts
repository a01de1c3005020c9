import { makeDevice, randomUser } from '../support/device.ts';
import { randomPrefix, sharedRedisUrl } from '../support/redis/redis.ts';
import { until } from '../support/redis/redis-processes.ts';
import { type ReplicaProcess, startReplica, stopReplicas } from '../support/replicas.ts';
import { startLoad } from '../support/steady-load.ts';

/* Clients keep their connections, without an edge, while every replica is replaced. */

const NOTICE_SECONDS = 2;
const CLIENTS = 20;

const redisUrl = sharedRedisUrl();
const keyPrefix = randomPrefix();
const start = (): Promise<ReplicaProcess> =>
  startReplica({ redisUrl, keyPrefix, env: { APP_DRAIN_NOTICE_SECONDS: String(NOTICE_SECONDS) } });

afterAll(stopReplicas);

const isReady = ({ adminUrl }: ReplicaProcess): Promise<boolean> =>
  fetch(`${adminUrl}/readyz`).then(
    (answer) => answer.ok,
    () => false,
  );

// Proves G25.
test('no request of a kept connection is lost while every replica is replaced under load', async () => {
  const laptop = makeDevice({ user: randomUser(), name: 'Laptop' });
  const old = await Promise.all([start(), start()]);
  await laptop.on(old[0]).call('getMe');
  /** The replicas to which a balancer would lead new connections. */
  let ready = [...old];
  let turn = 0;
  const load = startLoad({
    clients: CLIENTS,
    port: () => Number(new URL((ready[(turn += 1) % ready.length] as ReplicaProcess).url).port),
    path: '/api/message/ack',
    headers: laptop.headers,
    // It fills no mailbox, and nothing on the way repeats a POST.
    body: () => ({ message_ids: [crypto.randomUUID()] }),
  });
  const answered = (): number => load.answers.get(200) ?? 0;
  try {
    for (const leaving of old) {
      const before = answered();
      await until(
        async () => answered(),
        (now) => now > before + 5 * CLIENTS,
        'requests over kept connections',
      );
      const next = await start();
      const stopped = leaving.stop();
      await until(
        () => isReady(leaving),
        (is) => !is,
        'a replica that is not ready',
      );
      ready = [...ready.filter((each) => each !== leaving), next];
      expect(await stopped).toBe(0);
    }
    const before = answered();
    await until(
      async () => answered(),
      (now) => now > before + 5 * CLIENTS,
      'requests to the new replicas',
    );
  } finally {
    await load.stop();
  }
  console.info(`${answered()} answers over ${load.connections()} connections, ${load.failures.length} failures`);
  expect(load.failures).toEqual([]);
  expect([...load.answers.keys()]).toEqual([200]);
});
