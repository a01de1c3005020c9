import type { ServersFound } from '../../../shared/service-kit/redis/server-check.ts';
import { counter, gauge, type MetricsOf } from '../../../shared/service-kit/telemetry/metrics.ts';

export const STORE_METRICS = {
  redis_up: gauge('1 while the store answers this replica'),
  redis_reconnects_total: counter('Reconnects to the store'),
  redis_evicts: gauge('1 when the store may evict keys, which loses data'),
  redis_memory_used_bytes: gauge(
    'Memory that the store counts against its limit; in a cluster, that of the fullest primary',
    ['store'],
  ),
  redis_memory_max_bytes: gauge('maxmemory of that server; 0 without a limit', ['store']),
  redis_full: gauge('1 while the store refuses writes, because it is at maxmemory or its disk is full', ['store']),
  messages_unconfirmed_total: counter(
    'Accepted messages and rings of keys that too few Redis replicas confirmed in time',
  ),
};

/** Sets the metrics by what the servers of a store last reported. `relay`: the relay's own store. */
export function tellServers(
  metrics: MetricsOf<typeof STORE_METRICS>,
  store: 'main' | 'relay',
  { evicts, usedBytes, maxBytes, isFull }: ServersFound,
): void {
  if (store === 'main') metrics.redis_evicts.set(Number(evicts));
  metrics.redis_memory_used_bytes.set({ store }, usedBytes);
  metrics.redis_memory_max_bytes.set({ store }, maxBytes);
  metrics.redis_full.set({ store }, Number(isFull));
}
