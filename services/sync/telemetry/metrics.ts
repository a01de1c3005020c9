import { Registry } from 'prom-client';
import { gauge, type MetricsOf, registerMetrics, rowsOf } from '../../../shared/service-kit/telemetry/metrics.ts';
import { collectProcess, PROCESS_METRICS } from '../../../shared/service-kit/telemetry/process-metrics.ts';
import { HTTP_METRICS } from '../../../shared/service-kit/http/metrics.ts';
import { SCRIPT_METRICS } from '../../../shared/service-kit/redis/metrics.ts';
import { CLIPBOARD_METRICS } from '../clipboard/metrics.ts';
import { DUE_METRICS } from '../due/metrics.ts';
import { PORT_METRICS } from '../http/metrics.ts';
import { KEYS_METRICS } from '../keys/metrics.ts';
import { MESSAGE_METRICS } from '../messages/metrics.ts';
import { PRESENCE_METRICS } from '../presence/metrics.ts';
import { PUSH_METRICS } from '../push/metrics.ts';
import { BUS_METRICS } from '../redis/bus/metrics.ts';
import { STORE_METRICS } from '../redis/metrics.ts';
import { RELAY_METRICS } from '../relay/metrics.ts';
import { REPLICA_METRICS } from '../replicas/metrics.ts';
import { BROKER_METRICS } from '../sessions/auth-broker/metrics.ts';
import { SIGNIN_METRICS } from '../signin/metrics.ts';
import { STREAM_METRICS } from '../streams/metrics.ts';
import { LIFECYCLE_METRICS } from './lifecycle-metrics.ts';
import { TRANSFER_METRICS } from '../transfers/metrics.ts';

/**
 * Every metric of the replica, without its prefix `baton_`, as its module declares it. Labels hold no ids: each label
 * takes a handful of values known beforehand. Code counts with `metrics.<name>`, so a misspelt name does not compile.
 */
const METRICS = {
  ...HTTP_METRICS,
  ...PORT_METRICS,
  ...STREAM_METRICS,
  ...BUS_METRICS,
  ...REPLICA_METRICS,
  ...PRESENCE_METRICS,
  ...SCRIPT_METRICS,
  ...STORE_METRICS,
  ...MESSAGE_METRICS,
  ...CLIPBOARD_METRICS,
  ...KEYS_METRICS,
  ...TRANSFER_METRICS,
  ...RELAY_METRICS,
  ...SIGNIN_METRICS,
  ...BROKER_METRICS,
  ...PUSH_METRICS,
  ...DUE_METRICS,
  ...LIFECYCLE_METRICS,
  ...PROCESS_METRICS,
  build_info: gauge('Always 1; the labels name the version, Node, and a fingerprint of the settings that must agree', [
    'version',
    'node',
    'settings',
  ]),
};

export type Metrics = MetricsOf<typeof METRICS> & { readonly registry: Registry };

/**
 * Starts the counters of alerts at zero, because for Prometheus a counter that appears with its first value has not
 * risen.
 */
function beginAtZero(metrics: Metrics): void {
  for (const cause of ['died', 'orphaned', 'vanished']) metrics.nodes_reaped_total.inc({ cause }, 0);
  for (const reason of ['unauthenticated', 'untrusted_edge', 'invalid_request'])
    metrics.auth_rejections_total.inc({ reason }, 0);
  for (const code of ['store_unavailable', 'store_full', 'relay_busy']) metrics.problems_total.inc({ code }, 0);
  for (const reason of ['gap', 'store_lost']) metrics.resets_total.inc({ reason }, 0);
}

/**
 * Makes all metrics, including Node's own, on a separate registry, so that two apps in one process do not count
 * together. `settings`: the fingerprint of the settings that must agree on all replicas.
 */
export function makeMetrics({ version, settings = '' }: { version: string; settings?: string }): Metrics {
  const registry = new Registry();
  const metrics = { ...registerMetrics(METRICS, registry), registry };
  collectProcess(metrics, registry);
  metrics.build_info.set({ version, node: process.version, settings }, 1);
  beginAtZero(metrics);
  return metrics;
}

/** Returns the rows of the metrics table in the documentation. */
export const metricsTable = () => rowsOf(METRICS);
