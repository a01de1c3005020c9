import type { Logger } from 'pino';
import type { Metrics } from '../../telemetry/metrics.ts';

const LOG_AGAIN_MS = 60_000;

interface ConnectionsFullParts {
  limit: number;
  logger: Pick<Logger, 'error'>;
  metrics: Pick<Metrics, 'http_connections_refused_total'>;
  /** For tests. Milliseconds that only rise. */
  now?: () => number;
}

/** Makes a function that logs connections refused because the replica is at its limit: at once, then once a minute. */
export function makeConnectionsFull({ limit, logger, metrics, now = () => performance.now() }: ConnectionsFullParts) {
  let refused = 0;
  let logsAtMs = Number.NEGATIVE_INFINITY;
  return (): void => {
    metrics.http_connections_refused_total.inc({ cause: 'replica' });
    refused += 1;
    if (now() < logsAtMs) return;
    logsAtMs = now() + LOG_AGAIN_MS;
    logger.error({ limit, refused }, 'connections are refused: the limit of open files allows no more');
    refused = 0;
  };
}
