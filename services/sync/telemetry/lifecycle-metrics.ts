import { counter, gauge } from '../../../shared/service-kit/telemetry/metrics.ts';

export const LIFECYCLE_METRICS = {
  background_failures_total: counter('Failures in background work, for which no request waits', ['task', 'code']),
  draining: gauge('1 while the replica is shutting down'),
  drain_duration_seconds: gauge('Time for which this replica has been draining'),
  drain_limit_seconds: gauge('Time after which a drain cuts what is still open'),
};
