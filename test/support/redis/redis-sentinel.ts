import { type RedisProcess, type Settings, startRedisProcess, until } from './redis-processes.ts';

/** A primary, its replicas, and three sentinels that watch them, on loopback. */
export interface SentinelSite {
  /** For APP_REDIS_URL. */
  readonly url: string;
  /** The sentinels' name for it. */
  readonly master: string;
  readonly servers: readonly RedisProcess[];
  readonly sentinels: readonly RedisProcess[];
  /** Resolves to the server that the sentinels call primary now. */
  primary(): Promise<RedisProcess>;
  /**
   * Resolves to all other living servers once they follow the primary. After a failover they do so one by one. A server
   * that does not follow yet lacks everything since, but could be promoted.
   */
  replicas(): Promise<RedisProcess[]>;
  /** Resolves when a server other than `old` is primary. */
  promotedInsteadOf(old: RedisProcess): Promise<RedisProcess>;
  /** Asks the sentinels for a failover in good order. Resolves when it is over. */
  failover(): Promise<RedisProcess>;
  stop(): Promise<void>;
}

const MASTER = 'main';

const SERVER_SETTINGS = {
  'repl-diskless-sync-delay': 0,
  'maxmemory-policy': 'noeviction',
};

interface SentinelOptions {
  replicas?: number;
  /**
   * Must exceed the second between two pings. A sentinel that has just heard of another primary pings it for the first
   * time a second later, counts from when it heard, and would replace a healthy primary at once (Redis 7.0).
   */
  downAfterMs?: number;
  /** Settings of the servers. */
  settings?: Settings;
}

export async function startRedisSentinel(options: SentinelOptions = {}): Promise<SentinelSite> {
  const { replicas = 2, downAfterMs = 2_000 } = options;
  const settings = { ...SERVER_SETTINGS, ...options.settings };
  const first = await startRedisProcess({ settings, file: [] });
  const replicaOf = [`replicaof 127.0.0.1 ${first.port}`];
  const others = await Promise.all(
    Array.from({ length: replicas }, () => startRedisProcess({ settings, file: replicaOf })),
  );
  const servers = [first, ...others];
  for (const server of others) {
    await until(
      () => server.cli('info', 'replication'),
      (text) => text.includes('master_link_status:up'),
      'replication',
    );
  }
  const file = [
    `sentinel monitor ${MASTER} 127.0.0.1 ${first.port} 2`,
    `sentinel down-after-milliseconds ${MASTER} ${downAfterMs}`,
    `sentinel failover-timeout ${MASTER} 6000`,
    `sentinel parallel-syncs ${MASTER} 1`,
  ];
  const sentinels = await Promise.all(
    Array.from({ length: 3 }, () => startRedisProcess({ file, isSentinel: true, readyWhen: '+monitor' })),
  );
  for (const sentinel of sentinels) {
    await until(
      () => sentinel.cli('sentinel', 'master', MASTER),
      (text) => text.includes(`num-slaves\n${replicas}`) && text.includes('num-other-sentinels\n2'),
      'the sentinels to know everybody',
    );
  }
  const portOf = async (sentinel: RedisProcess) =>
    Number((await sentinel.cli('sentinel', 'get-master-addr-by-name', MASTER)).split('\n')[1]);
  const withPort = (port: number): RedisProcess => {
    const found = servers.find((server) => server.port === port);
    if (!found) throw new Error(`no server on port ${port}`);
    return found;
  };
  const primary = async () => withPort(await portOf(sentinels[0] as RedisProcess));
  /** Waits for all sentinels, because a client may ask any of them. */
  async function promotedInsteadOf(old: RedisProcess): Promise<RedisProcess> {
    for (const sentinel of sentinels) {
      await until(
        () => portOf(sentinel),
        (port) => port > 0 && port !== old.port,
        'a new primary',
      );
    }
    const promoted = await primary();
    await until(
      () => promoted.cli('role'),
      (text) => text.startsWith('master'),
      'the new primary to know',
    );
    return promoted;
  }

  return {
    url: `redis+sentinel://${sentinels.map(({ port }) => `127.0.0.1:${port}`).join(',')}/${MASTER}`,
    master: MASTER,
    servers,
    sentinels,
    primary,
    async replicas() {
      const info = await until(
        async () => (await primary()).cli('info', 'replication'),
        (text) => text.split('state=online').length === servers.filter((server) => server.isAlive()).length,
        'all others to follow the primary',
      );
      return servers.filter(({ port }) => info.includes(`port=${port},state=online`));
    },
    promotedInsteadOf,
    async failover() {
      const old = await primary();
      const [asked] = sentinels as [RedisProcess];
      // The sentinel refuses or gives up while a replica is still catching up from the failover before.
      await until(
        async () => {
          const port = await portOf(asked);
          if (port === old.port) await asked.cli('sentinel', 'failover', MASTER);
          return port;
        },
        (port) => port > 0 && port !== old.port,
        'the sentinels to begin a failover',
      );
      return promotedInsteadOf(old);
    },
    async stop() {
      await Promise.all([...sentinels, ...servers].map((redis) => redis.stop()));
    },
  };
}
