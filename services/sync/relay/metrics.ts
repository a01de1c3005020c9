import { counter, gauge } from '../../../shared/service-kit/telemetry/metrics.ts';

/** The relay. */
export const RELAY_METRICS = {
  relay_active: gauge('Relay requests under way', ['direction']),
  relay_buffered_bytes: gauge('Bytes of files that relay requests of this replica hold'),
  relay_bytes_total: counter('Bytes of files that came from senders and went to receivers', ['direction']),
  relay_rewinds_total: counter(
    'Uploads that had to go back: `asked` by a receiver, `lost` by the store, or `found` so by another request',
    ['cause'],
  ),
  relay_outcomes_total: counter('Relay requests that ended, by how', ['direction', 'outcome']),
};
