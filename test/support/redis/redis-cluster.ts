import { type RedisProcess, redisCli, type Settings, startRedisProcess, until } from './redis-processes.ts';

/** A node as another node's `CLUSTER NODES` describes it. */
interface ClusterNode {
  id: string;
  port: number;
  isPrimary: boolean;
  isFailed: boolean;
  /** Id of its primary; `-` if it is a primary. */
  primary: string;
  /** Ranges of slots, as Redis writes them: `0-5460`. */
  slots: string[];
}

/** Three primaries with one replica each, on loopback. */
export interface RedisCluster {
  /** For APP_REDIS_URL. */
  readonly url: string;
  readonly nodes: readonly RedisProcess[];
  /** Resolves to the primary that serves this key or channel. */
  primaryOf(key: string): Promise<RedisProcess>;
  slotOf(key: string): Promise<number>;
  /** Resolves to the slots that a primary serves. */
  slotsOf(server: RedisProcess): Promise<Set<number>>;
  /** Resolves to the primary of a slot and a replica of it. */
  shardOf(slot: number): Promise<[primary: RedisProcess, replica: RedisProcess]>;
  /** Kills the primary of a key at the moment when `when` resolves. Resolves when a replica has taken over. */
  killPrimaryOf(key: string, when?: Promise<unknown>): Promise<{ killed: RedisProcess; promoted: RedisProcess }>;
  /** Makes a replica of the key's primary take over in good order. */
  failover(key: string): Promise<void>;
  /**
   * Moves a slot with all its keys to another primary, step by step as `redis-cli --cluster reshard` does. Resolves to
   * the number of keys.
   */
  moveSlot(slot: number): Promise<number>;
  stop(): Promise<void>;
}

/** How long the others wait for a silent node before they call it dead. */
export const NODE_TIMEOUT_MS = 1_500;

const SETTINGS = {
  'cluster-enabled': 'yes',
  'cluster-node-timeout': NODE_TIMEOUT_MS,
  'cluster-replica-validity-factor': 0,
  // A shard that lost its primary and has no replica does not stop the others.
  'cluster-require-full-coverage': 'no',
  'repl-diskless-sync-delay': 0,
  'maxmemory-policy': 'noeviction',
};

function parseNodes(text: string): ClusterNode[] {
  return text.split('\n').map((line) => {
    const [id = '', address = '', flags = '', primary = '', , , , , ...slots] = line.split(' ');
    return {
      id,
      port: Number(/:(\d+)@/.exec(address)?.[1]),
      isPrimary: flags.includes('master'),
      isFailed: flags.includes('fail'),
      primary,
      slots: slots.filter((range) => !range.startsWith('[')),
    };
  });
}

/** Whether a node sees three primaries with slots, each with a replica. */
function isPaired(text: string): boolean {
  const nodes = parseNodes(text);
  const primaries = nodes.filter(({ isPrimary, slots }) => isPrimary && slots.length > 0);
  return primaries.length === 3 && primaries.every(({ id }) => nodes.some(({ primary }) => primary === id));
}

function slotsIn({ slots }: ClusterNode): Set<number> {
  const all = slots.flatMap((range) => {
    const [from = 0, to = from] = range.split('-').map(Number);
    return Array.from({ length: to - from + 1 }, (_, i) => from + i);
  });
  return new Set(all);
}

export async function startRedisCluster({ settings = {} }: { settings?: Settings } = {}): Promise<RedisCluster> {
  const all = { ...SETTINGS, ...settings };
  const nodes = await Promise.all(Array.from({ length: 6 }, () => startRedisProcess({ settings: all })));
  const dead = new Set<RedisProcess>();
  const stop = async () => {
    await Promise.all(nodes.map((node) => node.stop()));
  };
  const alive = () => nodes.filter((node) => !dead.has(node));
  const view = async () => parseNodes((await alive()[0]?.cli('cluster', 'nodes')) ?? '');
  const processOf = (node: ClusterNode): RedisProcess => {
    const found = nodes.find(({ port }) => port === node.port);
    if (!found) throw new Error(`no process on port ${node.port}`);
    return found;
  };
  const slotOf = async (key: string) => Number(await alive()[0]?.cli('cluster', 'keyslot', key));
  const ownerOf = async (slot: number): Promise<ClusterNode> => {
    const owner = (await view()).find((node) => node.isPrimary && !node.isFailed && slotsIn(node).has(slot));
    if (!owner) throw new Error(`nobody serves slot ${slot}`);
    return owner;
  };
  const promotedInsteadOf = (port: number, slot: number) =>
    until(
      () => ownerOf(slot),
      (owner) => owner.port !== port,
      `another primary of slot ${slot}`,
    );

  const addresses = nodes.map(({ port }) => `127.0.0.1:${port}`);
  await redisCli('--cluster', 'create', ...addresses, '--cluster-replicas', 1, '--cluster-yes');
  // The creator sees the cluster at once. Before use each node must see it, and each replica must have its data.
  for (const node of nodes) {
    await until(
      () => node.cli('cluster', 'info'),
      (text) => text.includes('cluster_state:ok'),
      'the cluster',
    );
    // A replica that does not know its primary yet calls itself a primary too.
    await until(() => node.cli('cluster', 'nodes'), isPaired, 'a replica for each primary');
    await until(
      () => node.cli('info', 'replication'),
      (text) => text.includes('connected_slaves:1') || text.includes('master_link_status:up'),
      'replication',
    );
  }

  async function moveSlot(slot: number): Promise<number> {
    const from = await ownerOf(slot);
    const to = (await view()).find((node) => node.isPrimary && !node.isFailed && node.id !== from.id);
    if (!to) throw new Error('no other primary');
    const [source, target] = [processOf(from), processOf(to)];
    await target.cli('cluster', 'setslot', slot, 'importing', from.id);
    await source.cli('cluster', 'setslot', slot, 'migrating', to.id);
    let moved = 0;
    for (;;) {
      const keys = (await source.cli('cluster', 'getkeysinslot', slot, 100)).split('\n').filter(Boolean);
      if (keys.length === 0) break;
      moved += keys.length;
      await source.cli('migrate', '127.0.0.1', to.port, '', 0, 5_000, 'keys', ...keys);
    }
    await target.cli('cluster', 'setslot', slot, 'node', to.id);
    await source.cli('cluster', 'setslot', slot, 'node', to.id);
    await until(
      () => ownerOf(slot),
      (owner) => owner.id === to.id,
      `slot ${slot} at its new place`,
    );
    return moved;
  }

  return {
    url: addresses.map((address) => `redis://${address}`).join(','),
    nodes,
    slotOf,
    async slotsOf(server) {
      const node = (await view()).find(({ port }) => port === server.port);
      return node ? slotsIn(node) : new Set();
    },
    async shardOf(slot) {
      const owner = await ownerOf(slot);
      const replica = (await view()).find(({ primary }) => primary === owner.id);
      if (!replica) throw new Error('that primary has no replica');
      return [processOf(owner), processOf(replica)];
    },
    primaryOf: async (key) => processOf(await ownerOf(await slotOf(key))),
    async killPrimaryOf(key, when) {
      const slot = await slotOf(key);
      const killed = processOf(await ownerOf(slot));
      await when;
      dead.add(killed);
      await killed.kill();
      const promoted = processOf(await promotedInsteadOf(killed.port, slot));
      return { killed, promoted };
    },
    async failover(key) {
      const slot = await slotOf(key);
      const owner = await ownerOf(slot);
      const replica = (await view()).find(({ primary, isFailed }) => primary === owner.id && !isFailed);
      if (!replica) throw new Error('that primary has no replica');
      await processOf(replica).cli('cluster', 'failover');
      await promotedInsteadOf(owner.port, slot);
    },
    moveSlot,
    stop,
  };
}
