import { NODE_TIMEOUT_MS, startRedisCluster } from '../../support/redis/redis-cluster.ts';
import { type RedisProcess, until } from '../../support/redis/redis-processes.ts';
import { harmsOfAnyStore, lookInto, peekInto } from './any-store.ts';
import { DURABLE, harmsOfPrimaries, type Primary, skippedOfPrimaries } from './primaries.ts';
import type { ChaosStore, StoreOptions } from './store.ts';
import { startWays, type Ways } from './ways.ts';

/** All keys of an account lie in the slot of this key. */
const keyOf = (account: string): string => `chaos:{${account}}:log`;

/** The leases of the replicas. */
const LEASES = 'chaos:{sys}:replicas';

/** Starts three primaries with a replica each. Each replica of Baton reaches each node through a proxy of its own. */
export async function startCluster({ accounts }: StoreOptions): Promise<ChaosStore> {
  const cluster = await startRedisCluster({ settings: DURABLE });
  const ports = cluster.nodes.map(({ port }) => port);
  const looks = ports.map(lookInto);
  const allWays: Ways[] = [];

  const slots = new Map<string, number>();
  for (const account of accounts) slots.set(account, await cluster.slotOf(keyOf(account)));
  const leaseSlot = await cluster.slotOf(LEASES);
  const accountAt = (variant: number): string => accounts[Math.floor(variant * accounts.length)] as string;
  const accountsWith = (holds: (slot: number) => boolean): string[] =>
    accounts.filter((account) => holds(slots.get(account) ?? -1));

  async function choose(variant: number): Promise<Primary> {
    const key = keyOf(accountAt(variant));
    const server = await cluster.primaryOf(key);
    const slot = await cluster.slotOf(key);
    const held = await cluster.slotsOf(server);
    const witness = cluster.nodes.find((one) => one !== server) as RedisProcess;
    /** Returns the port of the slot's primary, as the witness sees it; 0 for none. */
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
      accounts: accountsWith((one) => held.has(one)),
      holdsLeases: held.has(leaseSlot),
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
          // The node must have a follower, or follow a primary with all data.
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
      return {
        url: proxies.map(({ url }) => url).join(','),
        env: { APP_REDIS_MODE: 'cluster' },
        proxies,
        leaseWay: async () => ways.to((await cluster.primaryOf(LEASES)).port),
      };
    },
    harms: harmsOfPrimaries(choose, {
      ...harmsOfAnyStore(looks),
      failover: async ({ variant }) => {
        const account = accountAt(variant);
        const held = await cluster.slotsOf(await cluster.primaryOf(keyOf(account)));
        await cluster.failover(keyOf(account));
        const concerned = accountsWith((slot) => held.has(slot));
        const harmed = { accounts: concerned, holdsLeases: held.has(leaseSlot) };
        return { target: `the shard of ${account}`, ...harmed, loss: null, movedClock: false };
      },
      'slot-move': async ({ variant }) => {
        const account = accountAt(variant);
        const slot = slots.get(account) as number;
        const keys = await cluster.moveSlot(slot);
        const target = `slot ${slot} of ${account} with ${keys} keys`;
        const harmed = { accounts: accountsWith((one) => one === slot), holdsLeases: slot === leaseSlot };
        return { target, ...harmed, loss: null, movedClock: false };
      },
    }),
    harmless: ['failover', 'slot-move'],
    replicated: { looks, deadAfterMs: NODE_TIMEOUT_MS },
    peek: (account) => peekInto(looks, account),
    skipped: skippedOfPrimaries(),
    async stop() {
      for (const look of looks) look.disconnect();
      await Promise.all(allWays.map((ways) => ways.stop()));
      for (const node of cluster.nodes) node.resume();
      await cluster.stop();
    },
  };
}
