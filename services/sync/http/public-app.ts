import type { Express } from 'express';
import type { Logger } from 'pino';
import { makeExpress } from './express-app.ts';
import { makeRouter, type RouterDeps } from './mount.ts';
import { makeProblemHandler } from './problem.ts';
import { requestId } from './request-facts.ts';
import { makeRequestLog, makeRequestMetrics } from './request-log.ts';
import { apiHeaders, securityHeaders } from './response-headers.ts';
import { boundUnreadBody } from './unread-body.ts';

/** The public port, in the order in which a request meets it. */
export function makePublicApp({ logger, ...routes }: RouterDeps & { logger: Logger }): Express {
  const { metrics } = routes;
  const app = makeExpress();
  app.use(requestId, apiHeaders, securityHeaders, makeRequestLog({ logger }), makeRequestMetrics({ metrics }));
  app.use(boundUnreadBody);
  app.use(makeRouter(routes));
  app.use(makeProblemHandler({ logger, metrics }));
  return app;
}
