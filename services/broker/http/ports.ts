import type { Express } from 'express';
import type { Logger } from 'pino';
import { makeAdminApp } from '../../../shared/service-kit/http/admin.ts';
import { Arrivals } from '../../../shared/service-kit/http/arrivals.ts';
import { messageClasses } from '../../../shared/service-kit/http/express-app.ts';
import { giveNotice } from '../../../shared/service-kit/http/notice.ts';
import { type RunningServer, startServer } from '../../../shared/service-kit/http/server.ts';
import type { BrokerConfig } from '../config/config.ts';
import type { Metrics } from '../telemetry/metrics.ts';

/** How long requests that are still running after the notice may take. */
const FINISH_MS = 5_000;
const LAST_SCRAPE_MS = 1_000;

interface PortParts {
  config: Pick<BrokerConfig, 'http' | 'noticeMs'>;
  app: Express;
  /** Returns why the broker is not ready, for an operator; empty if it is ready. */
  reasons: () => string[];
  metrics: Metrics;
  logger: Logger;
}

/** Opens both ports of a broker, or neither. */
export async function openPorts({ config: { http, noticeMs }, app, reasons, metrics, logger }: PortParts) {
  const { host, port, adminPort, keepAliveSeconds, allowedHosts } = http;
  const arrivals = new Arrivals();
  const isReady = () => ({ ready: reasons().length === 0, reasons: reasons() });
  const admin = makeAdminApp({ isReady, status: null, registry: metrics.registry, allowedHosts, logger });
  const publicServer = await startServer({
    app: arrivals.count(app),
    classes: messageClasses(app),
    host,
    port,
    keepAliveSeconds,
    admits() {
      arrivals.connected();
      return true;
    },
  });
  const adminServer: RunningServer = await startServer({ app: admin, host, port: adminPort }).catch(
    async (error: unknown) => {
      await publicServer.close(0);
      throw error;
    },
  );
  return {
    port: publicServer.port,
    adminPort: adminServer.port,
    /**
     * Goes on answering for the notice, and each response ends its connection. Then finishes what is running. Metrics are
     * served until the end.
     */
    async drain(): Promise<void> {
      publicServer.endAfterAnswers();
      await giveNotice(noticeMs, arrivals);
      await publicServer.close(FINISH_MS);
    },
    closeAdmin: () => adminServer.close(LAST_SCRAPE_MS),
  };
}
