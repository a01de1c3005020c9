import { counter, gauge } from '../../../shared/service-kit/telemetry/metrics.ts';

/** The replica itself. */
export const LIFECYCLE_METRICS = {
  background_failures_total: counter('Failures of work that no request waits for', ['task', 'code']),
  draining: gauge('1 while the replica is shutting down'),
  drain_duration_seconds: gauge('How long this replica has been draining'),
  drain_limit_seconds: gauge('After so long of a drain what is still open is cut'),
};
