import { counter } from '../../../shared/service-kit/telemetry/metrics.ts';

/** Metrics of what the public port refuses. */
export const PORT_METRICS = {
  http_connections_refused_total: counter(
    'Connections closed at once: too many of their `address`, or of the `replica`',
    ['cause'],
  ),
  auth_rejections_total: counter('Requests refused because of who sent them', ['reason']),
};
