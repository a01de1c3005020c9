import { sharedRedisUrl } from './redis.ts';
import { startTcpProxy, type TcpProxy } from './tcp-proxy.ts';

const ADDRESS = /127\.0\.0\.1:(\d+)/g;

/** How servers name each other: CLUSTER SLOTS, MOVED, ASK, SENTINEL get-master-addr-by-name, SENTINEL sentinels. */
const NAMED_PORT = /(127\.0\.0\.1(?:\r\n\$5\r\n|\r\n:|:| )|\nport\r\n\$5\r\n)(\d{5})/g;

/** One replica's way to the shared store, with a proxy in front of each server and no way around them. */
export interface StoreWay {
  /** The URL for the replica. */
  readonly redisUrl: string;
  readonly env: Record<string, string>;
  /** Works like `silence` of each proxy. */
  silence(marker: string): void;
  swallowAnswers(): void;
  stop(): Promise<void>;
}

/** Starts the proxies for any kind of store. Behind Sentinel they cover the sentinels and the primary. */
export async function startStoreWay(): Promise<StoreWay> {
  const { APP_TEST_REDIS_LOOK: look = '', APP_TEST_REDIS_MODE: mode } = process.env;
  const ports = new Set([...`${sharedRedisUrl()} ${look}`.matchAll(ADDRESS)].map(([, port = '']) => port));
  const proxies = new Map<string, TcpProxy>();
  const insteadOf = (port: string): string => {
    const proxy = proxies.get(port);
    return proxy ? new URL(proxy.url).port : port;
  };
  // Ports have five digits here, so that lengths stay the same. A port that is split between two chunks is not rewritten,
  // and that connection bypasses the proxies.
  const rewrite = (bytes: Buffer): Buffer => {
    const text = bytes.toString('latin1');
    const changed = text.replace(NAMED_PORT, (_, before: string, port: string) => `${before}${insteadOf(port)}`);
    return changed === text ? bytes : Buffer.from(changed, 'latin1');
  };
  for (const port of ports) proxies.set(port, await startTcpProxy(`redis://127.0.0.1:${port}`, { rewrite }));
  const all = [...proxies.values()];

  return {
    redisUrl: sharedRedisUrl().replace(ADDRESS, (_, port: string) => `127.0.0.1:${insteadOf(port)}`),
    env: mode === 'cluster' ? { APP_REDIS_MODE: 'cluster' } : {},
    silence(marker) {
      for (const proxy of all) proxy.silence(marker);
    },
    swallowAnswers() {
      for (const proxy of all) proxy.swallowAnswers();
    },
    async stop() {
      await Promise.all(all.map((proxy) => proxy.stop()));
    },
  };
}
