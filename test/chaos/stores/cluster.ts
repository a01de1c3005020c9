import { startRedisCluster } from '../../support/redis-cluster.ts';
import { type RedisProcess, until } from '../../support/redis-processes.ts';
import { harmsOfAnyStore, lookInto, peekInto } from './any-store.ts';
import type { ChaosStore, Harm } from './store.ts';

/** What a primary had accepted this long before its death, and no replica had yet, may be lost. */
const LAG_MS = 2_000;

/** A paused node that wakes up answers what it finds waiting before it learns that it was replaced. */
const WAKES_MS = 2_000;

/** An account whose keys lie in a random slot; what the load calls its accounts. */
const accountKey = (variant: number): string => `chaos:{a${String(Math.floor(variant * 50)).padStart(3, '0')}}:log`;

const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Waits until a node that came back follows its successor with all data. */
const untilFollowing = (node: RedisProcess) =>
  until(
    () => node.cli('info', 'replication'),
    (text) => text.includes('master_link_status:up'),
    `the node on ${node.port} to follow its successor`,
  );

/** Waits until another node than this one serves the key. */
const untilReplaced = (witness: RedisProcess, node: RedisProcess, slot: number) =>
  until(
    () => witness.cli('cluster', 'slots'),
    (text) => {
      const words = text.split('\n');
      // from, to, then the primary's address, port, id and its metadata, then the replicas.
      const at = words.findIndex(
        (_, i) => Number(words[i]) <= slot && Number(words[i + 1]) >= slot && words[i + 2] === '127.0.0.1',
      );
      return at >= 0 && Number(words[at + 3]) !== node.port;
    },
    `a successor of the node on ${node.port}`,
  );

/** Three primaries with a replica each. */
export async function startCluster(): Promise<ChaosStore> {
  const cluster = await startRedisCluster();
  const looks = cluster.nodes.map(({ port }) => lookInto(port));

  /** Loses a primary, by `lose`, for good, and gets it back as a replica by `regain`. */
  const replacing =
    (lose: (node: RedisProcess) => Promise<void>, regain: (node: RedisProcess) => Promise<void>): Harm =>
    async ({ holdMs, variant, now }) => {
      const key = accountKey(variant);
      const node = await cluster.primaryOf(key);
      const slot = await cluster.slotOf(key);
      const lostSince = now() - LAG_MS;
      await lose(node);
      await untilReplaced(cluster.nodes.find((one) => one !== node) as RedisProcess, node, slot);
      await wait(holdMs);
      await regain(node);
      await untilFollowing(node);
      return { target: `primary ${node.port}`, loss: { lostSince }, movedClock: false };
    };

  return {
    mode: 'cluster',
    openDoor: async () => ({ url: cluster.url, env: { APP_REDIS_MODE: 'cluster' }, proxy: null }),
    harms: {
      ...harmsOfAnyStore(looks),
      'primary-kill': replacing(
        (node) => node.kill(),
        (node) => node.start(),
      ),
      'primary-pause': replacing(
        async (node) => node.pause(),
        async (node) => {
          node.resume();
          await wait(WAKES_MS);
        },
      ),
      failover: async ({ variant }) => {
        await cluster.failover(accountKey(variant));
        return { target: accountKey(variant), loss: null, movedClock: false };
      },
      'slot-move': async ({ variant }) => {
        const slot = await cluster.slotOf(accountKey(variant));
        await cluster.moveSlot(slot);
        return { target: `slot ${slot} of ${accountKey(variant)}`, loss: null, movedClock: false };
      },
    },
    peek: (account) => peekInto(looks, account),
    skipped: {
      'hole-to-replica, hole-to-store, latency, cut-mid-frame': 'the nodes of a cluster name their own addresses',
    },
    async stop() {
      for (const look of looks) look.disconnect();
      for (const node of cluster.nodes) node.resume();
      await cluster.stop();
    },
  };
}
