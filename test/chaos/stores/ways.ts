import { type Proxy, startProxy } from '../faults/proxy.ts';

/**
 * Where servers name each other: CLUSTER SLOTS, MOVED and ASK, SENTINEL get-master-addr-by-name, SENTINEL sentinels and
 * +switch-master. No other reply of the store looks like that.
 */
const NAMED_PORT = /(127\.0\.0\.1(?:\r\n\$5\r\n|\r\n:|:| )|\nport\r\n\$5\r\n)(\d{5})/g;

/** The way of one replica to each server, through a proxy of its own, and no way around. */
export interface Ways {
  /** Returns the proxy through which the server on this port is reached. */
  to(port: number): Proxy;
  stop(): Promise<void>;
}

/**
 * Starts a proxy before each port. Addresses that the servers name are changed into those of the proxies, which have as
 * many digits. An address on the border of two chunks stays as it is, and that connection then bypasses the proxies.
 */
export async function startWays(ports: readonly number[]): Promise<Ways> {
  const proxies = new Map<number, Proxy>();
  const rewrite = (bytes: Buffer): Buffer => {
    const text = bytes.toString('latin1');
    const changed = text.replace(NAMED_PORT, (all, before: string, port: string) => {
      const proxy = proxies.get(Number(port));
      return proxy ? `${before}${proxy.port}` : all;
    });
    return changed === text ? bytes : Buffer.from(changed, 'latin1');
  };
  for (const port of ports) proxies.set(port, await startProxy({ port, rewrite }));
  return {
    to(port) {
      const proxy = proxies.get(port);
      if (!proxy) throw new Error(`no way to port ${port}`);
      return proxy;
    },
    async stop() {
      await Promise.all([...proxies.values()].map((proxy) => proxy.stop()));
    },
  };
}
