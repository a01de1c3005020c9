import type { RequestHandler, Response } from 'express';
import { contextOf } from '../../../shared/service-kit/http/request-context.ts';
import type { Metrics } from '../telemetry/metrics.ts';

/** Paths that are not in the route table. A request for any other path counts as `none`. */
const PATHS = ['/forward-auth', '/login', '/login/dev', '/login/callback', '/.well-known/jwks.json', '/healthz'];

function routeOf(res: Response): string {
  const { route, target } = contextOf(res);
  if (route !== undefined) return route.path;
  // Envoy appends the path of the request.
  if (target.path.startsWith('/forward-auth/')) return '/forward-auth';
  return PATHS.includes(target.path) ? target.path : 'none';
}

type Counts = Pick<Metrics, 'auth_broker_requests_total' | 'auth_broker_request_duration_seconds'>;

/** Counts and times each response when it ends. */
export function countRequests({ auth_broker_requests_total: total, ...metrics }: Counts): RequestHandler {
  return (_req, res, next) => {
    res.on('close', () => {
      const route = routeOf(res);
      total.inc({ route, status: String(res.statusCode) });
      const seconds = (performance.now() - contextOf(res).startedAtMs) / 1000;
      metrics.auth_broker_request_duration_seconds.observe({ route }, seconds);
    });
    next();
  };
}
