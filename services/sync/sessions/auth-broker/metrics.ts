import { counter, gauge } from '../../../../shared/service-kit/telemetry/metrics.ts';

export const BROKER_METRICS = {
  broker_up: gauge(
    '1 while the auth broker can be used or none is configured; 0 from the start until it answers, and while it fails',
  ),
  broker_requests_total: counter('Calls to the auth broker, by outcome', ['operation', 'outcome']),
  broker_breaker_open: gauge('1 while calls of this kind are withheld because too many failed', ['operation']),
};
