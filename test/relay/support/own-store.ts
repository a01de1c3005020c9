import { startOwnRedis } from '../../support/redis/own-redis.ts';
import { connectTo } from '../../support/redis/redis.ts';
import { startSite } from '../../support/site.ts';

/** Starts a site whose relay has a Redis of its own, without persistence, and a plain connection that looks into it. */
export async function startSiteWithRelayStore(env: Record<string, string>) {
  const store = await startOwnRedis({ persistent: false });
  const bytes = connectTo(store.url);
  const site = await startSite({ APP_RELAY_REDIS_URL: store.url, ...env });
  return {
    site,
    store,
    bytes,
    async stop(): Promise<void> {
      await site.stop();
      bytes.disconnect();
      await store.stop();
    },
  };
}

export type SiteWithRelayStore = Awaited<ReturnType<typeof startSiteWithRelayStore>>;
