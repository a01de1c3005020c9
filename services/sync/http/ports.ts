import type { RequestListener } from 'node:http';
import type { Socket } from 'node:net';
import type { Express } from 'express';
import type { Logger } from 'pino';
import type { Config } from '../config/config.ts';
import { makeClientAddress } from '../identity/client-address.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import { VERSION } from '../../../shared/service-kit/version.ts';
import { messageClasses } from '../../../shared/service-kit/http/express-app.ts';
import { makeAddressQueue } from './limits/address-queue.ts';
import { makeConnectionCap } from './limits/connection-cap.ts';
import { makeConnectionsFull } from './limits/connections-full.ts';
import { Arrivals } from '../../../shared/service-kit/http/arrivals.ts';
import { oneAtATime } from '../../../shared/service-kit/http/one-at-a-time.ts';
import { addressText, type RunningServer, startServer } from '../../../shared/service-kit/http/server.ts';

/** Longer than the timeouts of slow stream readers (30 s) and, unless an operator set more, of slow relay readers. */
const STUCK_MS = 120_000;

interface PortParts {
  config: Config;
  app: Express;
  admin: RequestListener;
  logger: Logger;
  metrics: Metrics;
}

/**
 * Opens the public port. It bounds the connections of each address and of all, closes connections that take nothing of
 * their response, and lets clients take turns.
 */
function openPublicPort(
  { config: { http, relay }, app, logger, metrics }: PortParts,
  arrivals: Arrivals,
): Promise<RunningServer> {
  const cap = makeConnectionCap({
    limit: http.connectionsPerAddress,
    trustedProxies: http.trustedProxies,
    onRefused: () => metrics.http_connections_refused_total.inc({ cause: 'address' }),
  });
  const admits = (socket: Socket): boolean => {
    arrivals.connected();
    return cap(socket);
  };
  const stuckMs = Math.max(STUCK_MS, 2 * relay.stallMs);
  const { host, port, maxConnections, keepAliveSeconds } = http;
  const onFull = makeConnectionsFull({ limit: maxConnections, logger, metrics });
  const fair = makeAddressQueue({ app, addressOf: makeClientAddress({ trustedProxies: http.trustedProxies }) });
  const classes = messageClasses(app);
  return startServer({
    app: oneAtATime(arrivals.count(fair)),
    classes,
    host,
    port,
    admits,
    maxConnections,
    onFull,
    stuckMs,
    keepAliveSeconds,
  });
}

/** Opens both ports of a replica, or neither, and logs their addresses and the identity mode. Rejects as `startServer`. */
export async function openPorts(parts: PortParts) {
  const { config, admin, logger } = parts;
  const { host, adminPort, publicUrl } = config.http;
  const arrivals = new Arrivals();
  const publicServer = await openPublicPort(parts, arrivals);
  const adminServer: RunningServer = await startServer({ app: admin, host, port: adminPort }).catch(
    async (error: unknown) => {
      await publicServer.close(0);
      throw error;
    },
  );
  logger.info(
    {
      listens: addressText(host, publicServer.port),
      admin: addressText(host, adminServer.port),
      publicUrl,
      identity: config.identity.mode,
      redis: config.redis.address.mode,
      relayRedis: config.relay.address.mode,
      version: VERSION,
    },
    'listening',
  );
  return { publicServer, adminServer, arrivals };
}
