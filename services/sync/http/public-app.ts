import type { ErrorRequestHandler, Express } from 'express';
import { BatonError } from '../../../shared/contract/errors.ts';
import { makeExpress } from '../../../shared/service-kit/http/express-app.ts';
import { checkHead } from '../../../shared/service-kit/http/head-check.ts';
import { hostChecks } from '../../../shared/service-kit/http/host-check.ts';
import { makeProblemHandler } from '../../../shared/service-kit/http/problem.ts';
import { requestId } from '../../../shared/service-kit/http/request-context.ts';
import { logRequests } from '../../../shared/service-kit/http/request-log.ts';
import { makeCors } from './cors.ts';
import { boundUnreadBody } from './limits/unread-body.ts';
import { countRequests } from './request-metrics.ts';
import { commonHeaders, securityHeaders } from './response-headers.ts';
import { AUTH_PREFIX, mountRouters, type RouterDeps } from './router.ts';

interface PublicAppDeps extends RouterDeps {
  /** Host names that requests may use; null allows any. */
  allowedHosts?: readonly string[] | null;
  /** Origins whose pages may call the API with a bearer token. */
  corsOrigins?: readonly string[];
  /** Returns the error with which a request is refused, for anything that was thrown. */
  faultOf?: (error: unknown) => unknown;
}

/** Makes the public port. A request passes the middleware in this order, and one error handler answers every failure. */
export function makePublicApp({
  allowedHosts = null,
  corsOrigins = [],
  faultOf = (error) => error,
  ...deps
}: PublicAppDeps): Express {
  const { logger, metrics } = deps;
  const app = makeExpress();
  // A path has only one spelling, so that an edge in front cannot mistake it for another.
  app.enable('case sensitive routing').enable('strict routing');
  app.use(
    requestId,
    commonHeaders,
    securityHeaders,
    logRequests({ logger }),
    countRequests(metrics),
    boundUnreadBody,
    checkHead,
    ...hostChecks(allowedHosts),
    makeCors(corsOrigins),
  );
  app.use(AUTH_PREFIX, deps.addressLimits.auth);
  mountRouters(app, deps);
  app.use(() => {
    throw new BatonError('not_found', 'Nothing is served under this path');
  });
  const fail = makeProblemHandler({ logger, metrics });
  const failTruly: ErrorRequestHandler = (error, req, res, next) => fail(faultOf(error), req, res, next);
  app.use(failTruly);
  return app;
}
