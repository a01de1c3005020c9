import { counter } from '../../../shared/service-kit/telemetry/metrics.ts';

export const PORT_METRICS = {
  http_connections_refused_total: counter(
    'Connections closed at once because their `address` or the `replica` had too many',
    ['cause'],
  ),
  auth_rejections_total: counter('Requests refused because of their caller’s identity', ['reason']),
};
