import type { Express } from 'express';
import type { Logger } from 'pino';
import { makeExpress } from '../../server/http/express-app.ts';
import { hostChecks } from '../../server/http/host-check.ts';
import { makeRouter, type RouterDeps } from './mount.ts';
import { makeProblemHandler } from '../../server/http/problem.ts';
import { requestId } from '../../server/http/request-context.ts';
import { makeRequestLog } from '../../server/http/request-log.ts';
import { makeRequestMetrics } from './request-metrics.ts';
import { apiHeaders, securityHeaders } from './response-headers.ts';
import { boundUnreadBody } from './limits/unread-body.ts';

interface PublicAppDeps extends RouterDeps {
  /** Host names that requests may ask for; null: any. */
  allowedHosts?: readonly string[] | null;
  logger: Logger;
}

/** The public port, in the order in which a request meets it. */
export function makePublicApp({ allowedHosts = null, logger, ...routes }: PublicAppDeps): Express {
  const { metrics } = routes;
  const app = makeExpress();
  app.use(requestId, apiHeaders, securityHeaders, makeRequestLog({ logger }), makeRequestMetrics({ metrics }));
  app.use([boundUnreadBody, ...hostChecks(allowedHosts), makeRouter(routes)]);
  app.use(makeProblemHandler({ logger, metrics }));
  return app;
}
