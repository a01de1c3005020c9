import type { Presence } from '../../shared/contract/modules/presence.ts';
import { makeDevice, randomUser } from '../support/device.ts';
import { connectTo, randomPrefix } from '../support/redis/redis.ts';
import { until } from '../support/redis/redis-processes.ts';
import { type SentinelSite, startRedisSentinel } from '../support/redis/redis-sentinel.ts';
import { type ReplicaProcess, startReplica, stopReplicas, untilBeat } from '../support/replicas.ts';
import type { Recorder } from '../support/stream-recorder.ts';
import type { Replicas } from './main-job.ts';
import { startTraffic } from './traffic.ts';

let site: SentinelSite;
let keyPrefix: string;

const start = () => startReplica({ redisUrl: site.url, keyPrefix });

async function startSite(options: Parameters<typeof startRedisSentinel>[0]): Promise<void> {
  keyPrefix = randomPrefix();
  site = await startRedisSentinel(options);
}
async function stopSite(): Promise<void> {
  await stopReplicas();
  await site.stop();
}

/** Kills the primary once all others follow it. Resolves to the next primary. */
async function loseThePrimary() {
  await site.replicas();
  const old = await site.primary();
  await old.kill();
  return site.promotedInsteadOf(old);
}

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
      // Only a log that lost its tail starts over.
      expect(traffic.resets().filter((reason) => reason !== 'gap')).toEqual([]);
      // A primary that lives on may have answered in its successor's place.
      if (!diesFirst) return;
      const primary = await site.primary();
      const held = traffic
        .givenUp()
        .map(({ user, position }) => primary.cli('xrange', `${keyPrefix}:{${user}}:log`, position, position));
      expect((await Promise.all(held)).filter((entry) => entry !== '')).toEqual([]);
    },
  );
});

describe('while there is no primary for more than twelve seconds', () => {
  const AWAY_MS = 12_000;
  const SIX = [0, 1, 2, 3, 4, 5];
  beforeAll(() => startSite({ replicas: 1, downAfterMs: AWAY_MS }), 60_000);
  afterAll(stopSite);

  /** Returns the sum of a counter over all its labels. */
  const counterOf = async ({ adminUrl }: ReplicaProcess, name: string): Promise<number> => {
    const text = await (await fetch(`${adminUrl}/metrics`)).text();
    expect(text).toContain(`# TYPE ${name} `);
    const samples = [...text.matchAll(new RegExp(`^${name}(?:\\{.*\\})? (\\S+)$`, 'gm'))];
    return samples.reduce((sum, [, value]) => sum + Number(value), 0);
  };
  const idOf = async ({ adminUrl }: ReplicaProcess): Promise<string> => {
    const { replica } = (await (await fetch(`${adminUrl}/statusz`)).json()) as { replica: { id: string } };
    return replica.id;
  };

  const areAllOnline = ({ devices }: Presence): boolean =>
    devices.length === SIX.length && devices.every(({ online }) => online);

  /** Returns every presence that a stream was told, at its start and later. */
  const presencesOf = (events: Recorder['events']): Presence[] =>
    events.flatMap((event) => {
      if (event.name === 'ready') return [event.data.presence];
      return event.name === 'presence' ? [event.data] : [];
    });

  /** After this many beats a replica that was taken for dead, or that lost its lease, has been reaped. */
  const BEATS_OF_GRACE = 7;
  async function outliveGrace(replicas: ReplicaProcess[]): Promise<void> {
    const redis = connectTo(`redis://127.0.0.1:${(await site.primary()).port}`);
    const beats = async (replica: ReplicaProcess) => {
      for (let i = 0; i < BEATS_OF_GRACE; i++) await untilBeat(replica, redis, keyPrefix);
    };
    await Promise.all(replicas.map(beats));
    redis.disconnect();
  }

  test('none of six replicas takes another for dead, none has lost its lease, and nobody is shown offline', async () => {
    const six: ReplicaProcess[] = [];
    for (let i = 0; i < 3; i++) six.push(...(await Promise.all([start(), start()])));
    const [one, two] = six as [ReplicaProcess, ReplicaProcess];
    const ids = await Promise.all(six.map(idOf));
    const user = randomUser();
    const devices = six.map((replica, i) => {
      const device = makeDevice({ user, name: `Device ${i}` });
      return { calls: device.on(replica), stream: device.listen(replica) };
    });
    await Promise.all(devices.map(({ stream }) => stream.next('ready')));
    const presences = () => Promise.all(devices.map(async ({ calls }) => (await calls.call('getPresence')).body));
    await until(presences, (all) => all.every(areAllOnline), 'all six to be online');
    const traffic = await startTraffic(one, two);
    await traffic.flowing();
    const atStart = devices.map(({ stream }) => stream.events.length);
    const lostAt = performance.now();
    await loseThePrimary();
    const awayForMs = performance.now() - lostAt;
    await traffic.flowing();
    await traffic.finish();
    await outliveGrace(six);
    await traffic.close();
    const [first] = devices as [(typeof devices)[number]];
    const { body: last } = await first.calls.call('sendMessage', { body: { to: '*', content: 'the last one' } });
    await Promise.all(devices.slice(1).map(({ stream }) => stream.next('message')));
    const reaped = await Promise.all(six.map((replica) => counterOf(replica, 'baton_nodes_reaped_total')));
    const live = await Promise.all(six.map((replica) => counterOf(replica, 'baton_nodes_live')));
    const told = devices.flatMap(({ stream }, i) => presencesOf(stream.events.slice(atStart[i])));

    expect(awayForMs).toBeGreaterThan(AWAY_MS);
    expect(reaped).toEqual(SIX.map(() => 0));
    expect(live).toEqual(SIX.map(() => 6));
    expect(await Promise.all(six.map(idOf))).toEqual(ids);
    expect(traffic.violations()).toEqual([]);
    expect(last.to.map(({ online }) => online)).toEqual([true, true, true, true, true]);
    expect([...told, ...(await presences())].filter((presence) => !areAllOnline(presence))).toEqual([]);
    // Each stream has survived it.
    const states = devices.map(({ stream }) => stream.states.map(({ state }) => state));
    expect(states).toEqual(SIX.map(() => ['connecting', 'open']));
    await Promise.all(devices.map(({ stream }) => stream.stop()));
  }, 180_000);
});
