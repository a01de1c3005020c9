import { until } from '../../support/redis/redis-processes.ts';
import { startRedisSentinel } from '../../support/redis/redis-sentinel.ts';
import { harmsOfAnyStore, lookInto, peekInto } from './any-store.ts';
import { DURABLE, harmsOfPrimaries, LAG_MS, type Primary, skippedOfPrimaries, untilFollowing } from './primaries.ts';
import type { ChaosStore } from './store.ts';
import { startWays, type Ways } from './ways.ts';
import { wait } from '../wait.ts';

/**
 * A server is taken for dead after this much silence. On a busy machine a shorter silence would be no sign of death.
 */
const DEAD_AFTER_MS = 2_000;

/** The sentinels agree on another server within this time. */
const DECIDED_WITHIN_MS = DEAD_AFTER_MS + 2_000;

/**
 * Starts a primary with two replicas and three sentinels. Each replica of Baton reaches each of them through a proxy of
 * its own.
 */
export async function startSentinel(): Promise<ChaosStore> {
  const site = await startRedisSentinel({ settings: DURABLE, downAfterMs: DEAD_AFTER_MS });
  const ports = site.servers.map(({ port }) => port);
  const looks = ports.map(lookInto);
  const allWays: Ways[] = [];

  async function choose(): Promise<Primary> {
    const server = await site.primary();
    return {
      server,
      holdsLeases: true,
      replaced: () => site.promotedInsteadOf(server),
      async returned() {
        // The sentinels take their time to carry out what they decided while it was away.
        await wait(DECIDED_WITHIN_MS);
        const place = await until(
          async () => ({
            isPrimary: (await site.primary()) === server,
            info: await server.cli('info', 'replication'),
          }),
          ({ isPrimary: isNow, info }) => (isNow ? /connected_slaves:[1-9]/ : /master_link_status:up/).test(info),
          `the server on ${server.port} to have its place`,
        );
        return place.isPrimary;
      },
    };
  }

  return {
    mode: 'sentinel',
    async openDoor() {
      const ways = await startWays([...ports, ...site.sentinels.map(({ port }) => port)]);
      allWays.push(ways);
      const sentinels = site.sentinels.map(({ port }) => `127.0.0.1:${ways.to(port).port}`);
      const url = `redis+sentinel://${sentinels.join(',')}/${site.master}`;
      const leaseWay = async () => ways.to((await site.primary()).port);
      return { url, env: {}, proxies: ports.map((port) => ways.to(port)), leaseWay };
    },
    harms: harmsOfPrimaries(choose, {
      ...harmsOfAnyStore(looks),
      /** The failover is ordered. Until the old primary is told, it goes on accepting writes that are lost. */
      failover: async ({ now }) => {
        const since = now() - LAG_MS;
        const old = await site.primary();
        await site.failover();
        await untilFollowing(old);
        return { target: `primary ${old.port}`, loss: { since, times: 1 }, movedClock: false };
      },
    }),
    harmless: [],
    replicated: { looks, deadAfterMs: DEAD_AFTER_MS },
    peek: (account) => peekInto(looks, account),
    skipped: skippedOfPrimaries(),
    async stop() {
      for (const look of looks) look.disconnect();
      await Promise.all(allWays.map((ways) => ways.stop()));
      for (const server of site.servers) server.resume();
      await site.stop();
    },
  };
}
