import { counter, gauge } from '../../../shared/service-kit/telemetry/metrics.ts';

export const RELAY_METRICS = {
  relay_active: gauge('Relay requests under way', ['direction']),
  relay_buffered_bytes: gauge('Bytes of files that relay requests hold on this replica'),
  relay_bytes_total: counter('Bytes of files received from senders and sent to receivers', ['direction']),
  relay_rewinds_total: counter(
    'Uploads that began again at an earlier byte: `asked` by a receiver, `lost` by the store, or `found` by another request',
    ['cause'],
  ),
  relay_outcomes_total: counter('Ended relay requests, by outcome', ['direction', 'outcome']),
};
