import { counter, gauge } from '../../../../shared/service-kit/telemetry/metrics.ts';

/** Calls to the auth broker. */
export const BROKER_METRICS = {
  broker_up: gauge('1 while the auth broker can be used, and where there is none; 0 from the start until it answers'),
  broker_requests_total: counter('Calls to the auth broker, by how they ended', ['operation', 'outcome']),
  broker_breaker_open: gauge('1 while the auth broker is spared a kind of call that failed too often', ['operation']),
};
