import { counter, gauge } from '../../../shared/service-kit/telemetry/metrics.ts';

export const REPLICA_METRICS = {
  nodes_live: gauge('Replicas that this replica believes alive, itself included'),
  clock_skew_seconds: gauge('How far the clock of this machine is ahead of the store’s'),
  nodes_reaped_total: counter(
    'Dead replicas whose streams this replica announced offline, by the reason why it took them over',
    ['cause'],
  ),
};
