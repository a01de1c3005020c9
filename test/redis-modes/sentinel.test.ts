import { randomPrefix } from '../support/redis.ts';
import { until } from '../support/redis-processes.ts';
import { type SentinelSite, startRedisSentinel } from '../support/redis-sentinel.ts';
import { type ReplicaProcess, startReplica, stopReplicas } from '../support/replicas.ts';
import { CLIPBOARD_ENV, describeMainJob, type Replicas } from './main-job.ts';
import { startTraffic } from './traffic.ts';

let site: SentinelSite;
let keyPrefix: string;

const start = () => startReplica({ redisUrl: site.url, keyPrefix, env: CLIPBOARD_ENV });

async function startSite(options: Parameters<typeof startRedisSentinel>[0]): Promise<void> {
  keyPrefix = randomPrefix();
  site = await startRedisSentinel(options);
}
async function stopSite(): Promise<void> {
  await stopReplicas();
  await site.stop();
}

/** Kills the primary; resolves to the next one. */
async function loseThePrimary() {
  const old = await site.primary();
  await old.kill();
  return site.promotedInsteadOf(old);
}

describe('behind Sentinel', () => {
  let replicas: Replicas;

  beforeAll(async () => {
    // Nobody is to fail over here, however busy the machine.
    await startSite({ replicas: 2, downAfterMs: 60_000 });
    const [one, two] = await Promise.all([start(), start()]);
    replicas = { one, two };
  });
  afterAll(stopSite);

  describeMainJob(
    () => replicas,
    async () => {
      replicas = { ...replicas, two: await start() };
    },
  );
});

describe('behind Sentinel that finds a primary dead within seconds', () => {
  let replicas: Replicas;

  beforeAll(async () => {
    await startSite({ replicas: 2 });
    const [one, two] = await Promise.all([start(), start()]);
    replicas = { one, two };
  });
  afterAll(stopSite);

  test.each([
    ['that was asked for', () => site.failover(), false],
    ['of a killed primary', loseThePrimary, true],
  ])(
    'a failover %s refuses writes for a while, closes no stream, loses nothing unsaid, and is over within 15 s',
    async (_, failover, diesFirst) => {
      const traffic = await startTraffic(replicas.one, replicas.two);
      await traffic.flowing();
      await failover();
      const promotedAt = performance.now();
      await traffic.flowing();
      const flowingAfterMs = performance.now() - promotedAt;
      await traffic.finish();
      await traffic.close();

      expect(traffic.violations()).toEqual([]);
      expect(flowingAfterMs).toBeLessThan(15_000);
      expect(traffic.refused.length).toBeGreaterThan(0);
      // Only a log that lost its tail is started anew.
      expect(traffic.resets().filter((reason) => reason !== 'gap')).toEqual([]);
      // One that lives on may have answered for its heir.
      if (!diesFirst) return;
      const primary = await site.primary();
      const held = traffic
        .givenUp()
        .map(({ user, position }) => primary.cli('xrange', `${keyPrefix}:{${user}}:log`, position, position));
      expect((await Promise.all(held)).filter((entry) => entry !== '')).toEqual([]);
    },
  );
});

describe('while there is no primary for twelve seconds', () => {
  beforeAll(() => startSite({ replicas: 1, downAfterMs: 10_000 }), 60_000);
  afterAll(stopSite);

  const counterOf = async ({ adminUrl }: ReplicaProcess, metric: RegExp): Promise<number> => {
    const text = await (await fetch(`${adminUrl}/metrics`)).text();
    return Number(metric.exec(text)?.[1] ?? 0);
  };
  const idOf = async ({ adminUrl }: ReplicaProcess): Promise<string> => {
    const { replica } = (await (await fetch(`${adminUrl}/statusz`)).json()) as { replica: { id: string } };
    return replica.id;
  };

  test('none of six replicas takes another for dead, and none has lost its lease', async () => {
    const six: ReplicaProcess[] = [];
    for (let i = 0; i < 3; i++) six.push(...(await Promise.all([start(), start()])));
    const [one, two] = six as [ReplicaProcess, ReplicaProcess];
    const ids = await Promise.all(six.map(idOf));
    const traffic = await startTraffic(one, two);
    await traffic.flowing();
    const lostAt = performance.now();
    await loseThePrimary();
    const awayForMs = performance.now() - lostAt;
    await traffic.flowing();
    await traffic.finish();
    await traffic.close();
    const reaped = await Promise.all(six.map((replica) => counterOf(replica, /^baton_nodes_reaped_total (\d+)/m)));
    // Each replica sees the others with its next beat.
    for (const replica of six) {
      await until(
        () => counterOf(replica, /^baton_nodes_live (\d+)/m),
        (live) => live === 6,
        'six live replicas',
      );
    }

    expect(awayForMs).toBeGreaterThan(10_000);
    expect(reaped).toEqual([0, 0, 0, 0, 0, 0]);
    expect(await Promise.all(six.map(idOf))).toEqual(ids);
    expect(traffic.violations()).toEqual([]);
  }, 120_000);
});
