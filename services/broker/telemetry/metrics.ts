import { Registry } from 'prom-client';
import {
  counter,
  gauge,
  histogram,
  type MetricsOf,
  readWhenScraped,
  registerMetrics,
  rowsOf,
} from '../../../shared/service-kit/telemetry/metrics.ts';
import { collectProcess, PROCESS_METRICS } from '../../../shared/service-kit/telemetry/process-metrics.ts';

/** Seconds. A replica waits 2 or 3 s for the broker. */
const REQUEST_BUCKETS = [0.005, 0.025, 0.1, 0.5, 2, 5];

/**
 * Every metric of the broker, without its prefix `baton_`. Their names differ from those of replicas, so that no sum over
 * replicas counts a broker. Metrics of the process have the same names, and so the same alerts.
 */
const METRICS = {
  auth_broker_requests_total: counter('Requests that the auth broker answered, by path', ['route', 'status']),
  auth_broker_request_duration_seconds: histogram('Time to answer a request of the auth broker', REQUEST_BUCKETS, [
    'route',
  ]),
  auth_broker_ready: gauge('1 while the auth broker has a key that signs, and is not shutting down'),
  auth_broker_redis_up: gauge('1 while the auth broker can use its store'),
  auth_broker_build_info: gauge('Always 1; the labels name the version and Node', ['version', 'node']),
  ...PROCESS_METRICS,
};

export type Metrics = MetricsOf<typeof METRICS> & { readonly registry: Registry };

interface MetricsParts {
  version: string;
  isReady: () => boolean;
  isStoreUp: () => boolean;
}

/** Makes all metrics of a broker, and Node's own, on a separate registry. */
export function makeMetrics({ version, isReady, isStoreUp }: MetricsParts): Metrics {
  const registry = new Registry();
  const metrics = { ...registerMetrics(METRICS, registry), registry };
  const { auth_broker_ready: ready, auth_broker_redis_up: storeUp, auth_broker_build_info } = metrics;
  collectProcess(metrics, registry);
  auth_broker_build_info.set({ version, node: process.version }, 1);
  readWhenScraped(ready, () => Number(isReady()));
  readWhenScraped(storeUp, () => Number(isStoreUp()));
  // Counters with alerts exist from the start, because a counter that appears with its first value has not risen.
  for (const status of ['500', '503']) metrics.auth_broker_requests_total.inc({ route: '/v1/verify', status }, 0);
  return metrics;
}

/** The rows of the metrics table in the documentation. */
export const metricsTable = () => rowsOf(METRICS);
