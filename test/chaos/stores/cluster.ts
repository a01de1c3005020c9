import { NODE_TIMEOUT_MS, startRedisCluster } from '../../support/redis-cluster.ts';
import { type RedisProcess, until } from '../../support/redis-processes.ts';
import { harmsOfAnyStore, lookInto, peekInto } from './any-store.ts';
import { DURABLE, harmsOfPrimaries, type Primary } from './primaries.ts';
import type { ChaosStore } from './store.ts';
import { startWays, type Ways } from './ways.ts';

/** An account whose keys lie in a random slot; what the load calls its accounts. */
const accountKey = (variant: number): string => `chaos:{a${String(Math.floor(variant * 50)).padStart(3, '0')}}:log`;

/** Three primaries with a replica each; each replica of ours reaches each node through a proxy of its own. */
export async function startCluster(): Promise<ChaosStore> {
  const cluster = await startRedisCluster({ settings: DURABLE });
  const ports = cluster.nodes.map(({ port }) => port);
  const looks = ports.map(lookInto);
  const allWays: Ways[] = [];

  async function choose(variant: number): Promise<Primary> {
    const key = accountKey(variant);
    const server = await cluster.primaryOf(key);
    const slot = await cluster.slotOf(key);
    const witness = cluster.nodes.find((one) => one !== server) as RedisProcess;
    /** Port of the primary of the slot, as the witness sees it; 0 for none. */
    const owner = async () => {
      const words = (await witness.cli('cluster', 'slots')).split('\n');
      // From, to, then the primary's address, port, id and its metadata, then the replicas.
      const at = words.findIndex(
        (_, i) => Number(words[i]) <= slot && Number(words[i + 1]) >= slot && words[i + 2] === '127.0.0.1',
      );
      return at < 0 ? 0 : Number(words[at + 3]);
    };
    return {
      server,
      replaced: () =>
        until(owner, (port) => port !== 0 && port !== server.port, `a successor of the node on ${server.port}`),
      async returned() {
        await until(
          () => server.cli('cluster', 'info'),
          (text) => text.includes('cluster_state:ok'),
          'the cluster to be whole again',
        );
        const role = await until(
          () => server.cli('info', 'replication'),
          // What was ahead of what it brought back must have followed, or be followed.
          (text) => /connected_slaves:[1-9]/.test(text) || text.includes('master_link_status:up'),
          `the node on ${server.port} to have its place`,
        );
        return role.includes('role:master');
      },
    };
  }

  return {
    mode: 'cluster',
    async openDoor() {
      const ways = await startWays(ports);
      allWays.push(ways);
      const proxies = ports.map((port) => ways.to(port));
      return { url: proxies.map(({ url }) => url).join(','), env: { APP_REDIS_MODE: 'cluster' }, proxies };
    },
    harms: harmsOfPrimaries(choose, {
      ...harmsOfAnyStore(looks),
      failover: async ({ variant }) => {
        await cluster.failover(accountKey(variant));
        return { target: accountKey(variant), loss: null, movedClock: false };
      },
      'slot-move': async ({ variant }) => {
        const slot = await cluster.slotOf(accountKey(variant));
        await cluster.moveSlot(slot);
        return { target: `slot ${slot} of ${accountKey(variant)}`, loss: null, movedClock: false };
      },
    }),
    replicated: { looks, deadAfterMs: NODE_TIMEOUT_MS },
    peek: (account) => peekInto(looks, account),
    skipped: {},
    async stop() {
      for (const look of looks) look.disconnect();
      await Promise.all(allWays.map((ways) => ways.stop()));
      for (const node of cluster.nodes) node.resume();
      await cluster.stop();
    },
  };
}
