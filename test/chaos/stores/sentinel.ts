import { startRedisSentinel } from '../../support/redis-sentinel.ts';
import { until } from '../../support/redis-processes.ts';
import { harmsOfAnyStore, lookInto, peekInto } from './any-store.ts';
import type { ChaosStore, Harm } from './store.ts';

/** What a primary had accepted this long before its death, and no replica had yet, may be lost. */
const LAG_MS = 2_000;

const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** A primary with two replicas and three sentinels. */
export async function startSentinel(): Promise<ChaosStore> {
  const site = await startRedisSentinel();
  const looks = site.servers.map(({ port }) => lookInto(port));

  type Server = (typeof site.servers)[number];
  const untilFollowing = (server: Server) =>
    until(
      () => server.cli('info', 'replication'),
      (text) => text.includes('master_link_status:up'),
      `the server on ${server.port} to follow its successor`,
    );
  const replacing =
    (lose: (server: Server) => Promise<void>, regain: (server: Server) => Promise<void>): Harm =>
    async ({ holdMs, now }) => {
      const server = await site.primary();
      const lostSince = now() - LAG_MS;
      await lose(server);
      await site.promotedInsteadOf(server);
      await wait(holdMs);
      await regain(server);
      await untilFollowing(server);
      return { target: `primary ${server.port}`, loss: { lostSince }, movedClock: false };
    };

  return {
    mode: 'sentinel',
    openDoor: async () => ({ url: site.url, env: {}, proxy: null }),
    harms: {
      ...harmsOfAnyStore(looks),
      'primary-kill': replacing(
        (server) => server.kill(),
        (server) => server.start(),
      ),
      'primary-pause': replacing(
        async (server) => server.pause(),
        async (server) => server.resume(),
      ),
      /** By order: the old primary goes on accepting what is lost until it is told. */
      failover: async ({ now }) => {
        const lostSince = now() - LAG_MS;
        const old = await site.primary();
        await site.failover();
        await untilFollowing(old);
        return { target: `primary ${old.port}`, loss: { lostSince }, movedClock: false };
      },
    },
    peek: (account) => peekInto(looks, account),
    skipped: { 'hole-to-replica, hole-to-store, latency, cut-mid-frame': 'sentinels name the address of the primary' },
    async stop() {
      for (const look of looks) look.disconnect();
      for (const server of site.servers) server.resume();
      await site.stop();
    },
  };
}
