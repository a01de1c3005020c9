import { Redis } from 'ioredis';
import { startRedisCluster } from '../support/redis/redis-cluster.ts';
import { type RedisProcess, startRedisProcess } from '../support/redis/redis-processes.ts';
import type { Options } from './options.ts';

/** The settings that an installation is asked to have. */
const SETTINGS = {
  appendonly: 'yes',
  appendfsync: 'everysec',
  'maxmemory-policy': 'noeviction',
  'client-output-buffer-limit': 'pubsub 64mb 16mb 60',
};

/** The store of a run: one process, or three primaries with a replica each. */
export interface Store {
  /** The value for APP_REDIS_URL. */
  readonly url: string;
  /** A connection to each server that serves. The replicas of a cluster only count as processes. */
  readonly primaries: readonly Redis[];
  readonly pids: readonly number[];
  /** The process that serves an account. */
  pidFor(account: string): Promise<number>;
  stop(): Promise<void>;
}

const connectionTo = ({ port }: RedisProcess): Redis => new Redis(port, '127.0.0.1', { maxRetriesPerRequest: 1 });

const pidOf = async (server: RedisProcess): Promise<number> =>
  Number(/process_id:(\d+)/.exec(await server.cli('info', 'server'))?.[1]);

interface Parts {
  url: string;
  nodes: readonly RedisProcess[];
  primaries: readonly RedisProcess[];
  serverFor: (account: string) => Promise<RedisProcess>;
  end: () => Promise<void>;
}

async function storeOf({ url, nodes, primaries, serverFor, end }: Parts): Promise<Store> {
  const pids = await Promise.all(nodes.map(pidOf));
  const connections = primaries.map(connectionTo);
  return {
    ...{ url, pids, primaries: connections },
    pidFor: async (account) => pidOf(await serverFor(account)),
    async stop() {
      for (const connection of connections) connection.disconnect();
      await end();
    },
  };
}

async function startStandalone(): Promise<Store> {
  const server = await startRedisProcess({ settings: SETTINGS });
  const one = [server];
  return storeOf({
    ...{ url: `redis://127.0.0.1:${server.port}`, nodes: one, primaries: one },
    serverFor: () => Promise.resolve(server),
    end: () => server.stop(),
  });
}

async function startCluster(): Promise<Store> {
  // No failover is wanted here, however busy the machine is.
  const cluster = await startRedisCluster({ settings: { ...SETTINGS, 'cluster-node-timeout': 15_000 } });
  const roles = await Promise.all(cluster.nodes.map((node) => node.cli('role')));
  return storeOf({
    ...{ url: cluster.url, nodes: cluster.nodes },
    primaries: cluster.nodes.filter((_, i) => roles[i]?.startsWith('master')),
    serverFor: (account) => cluster.primaryOf(`{${account}}`),
    end: cluster.stop,
  });
}

export const startStore = ({ mode }: Pick<Options, 'mode'>): Promise<Store> =>
  mode === 'cluster' ? startCluster() : startStandalone();
