import type { RequestListener } from 'node:http';
import type { Config } from '../config.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import { makeConnectionCap } from './connection-cap.ts';
import { startServer } from './server.ts';

/** Longer than what bounds the readers of streams (30 s), and of relays unless an operator gave them more. */
const STUCK_MS = 120_000;

interface ServersParts {
  app: RequestListener;
  admin: RequestListener;
  config: Pick<Config, 'http' | 'relay'>;
  metrics: Metrics;
}

/**
 * The public port, with not too many connections of one address and none that takes nothing of its answer, and then the
 * admin port.
 */
export async function startServers({ app, admin, config: { http, relay }, metrics }: ServersParts) {
  const admits = makeConnectionCap({
    limit: http.connectionsPerAddress,
    trustedProxies: http.trustedProxies,
    onRefused: () => metrics.http_connections_refused_total.inc(),
  });
  const stuckMs = Math.max(STUCK_MS, 2 * relay.stallMs);
  const publicServer = await startServer({ app, host: http.host, port: http.port, admits, stuckMs });
  const adminServer = await startServer({ app: admin, host: http.host, port: http.adminPort });
  return { publicServer, adminServer };
}
