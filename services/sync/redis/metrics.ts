import { counter, gauge } from '../../../shared/service-kit/telemetry/metrics.ts';

/** The store, as the replica finds it. */
export const STORE_METRICS = {
  redis_up: gauge('1 while the store answers this replica'),
  redis_reconnects_total: counter('Reconnects to the store'),
  redis_evicts: gauge('1 when the store may evict keys, which loses data'),
  messages_unconfirmed_total: counter('Messages and keys accepted that too few Redis replicas confirmed in time'),
};
