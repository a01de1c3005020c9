import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ErrorRequestHandler, Request, RequestHandler } from 'express';
import { BatonError } from '../../../../shared/contract/errors.ts';
import type { Route } from '../../../../shared/contract/vocabulary/route.ts';
import { prefersPages } from '../../../../shared/service-kit/http/accepts.ts';
import type { Caller } from '../../identity/caller.ts';
import { guard } from '../../identity/guard.ts';
import type { Identity } from '../../identity/identity.ts';
import type { Metrics } from '../../telemetry/metrics.ts';
import type { ReplicaLimits } from '../limits/replica-limit.ts';
import type { StreamLog } from '../request-metrics.ts';
import { callerOf, stateOf, whenThere } from './state.ts';

/* The steps that a request must pass before its path, query and body are read. */

/** Applies the same-origin rule, on routes that have it. */
export const checkOrigin =
  (sameOrigin: (req: IncomingMessage, route: Route) => void, route: Route): RequestHandler =>
  (req, _res, next) => {
    sameOrigin(req, route);
    next();
  };

/** Finds the caller, by the identity mode in force. */
export const identify =
  (identity: Identity, route: Route): RequestHandler =>
  (req, res, next) =>
    whenThere(identity.identify(req, route), (caller) => {
      stateOf(res).caller = caller;
      next();
    });

/** Refuses a device that was signed out, as far as this replica knows. */
export const refuseRevoked =
  (isRevoked: (account: string, deviceId: string) => boolean): RequestHandler =>
  (_req, res, next) => {
    const { account, deviceId } = callerOf(res);
    if (deviceId !== null && isRevoked(account, deviceId)) throw new BatonError('session_revoked');
    next();
  };

/** Applies the limits that bound what one account costs this replica. */
export const limitAccount =
  (limits: Pick<ReplicaLimits, 'check'>, route: Route): RequestHandler =>
  (_req, res, next) => {
    limits.check(route, callerOf(res));
    next();
  };

/** Reports a caller that was let in. */
export const noteCaller =
  (onCaller: (caller: Caller) => void): RequestHandler =>
  (_req, res, next) => {
    onCaller(callerOf(res));
    next();
  };

/** Checks the scope and the device of the caller. */
export const guardRoute =
  (route: Route): RequestHandler =>
  (req, res, next) => {
    guard(route, callerOf(res), req.params);
    next();
  };

/** Ensures that the caller's device has a row, on routes that need a device. */
export const needRow =
  (requireRow: (caller: Caller) => Promise<void> | null): RequestHandler =>
  (_req, res, next) =>
    whenThere(requireRow(callerOf(res)), () => next());

/** Counts refused callers. A 5xx says nothing about the caller, and rate-limited requests have a separate count. */
export const countRejected =
  ({ auth_rejections_total }: Pick<Metrics, 'auth_rejections_total'>): ErrorRequestHandler =>
  (error, _req, _res, next) => {
    if (error instanceof BatonError && error.status < 500 && error.code !== 'rate_limited')
      auth_rejections_total.inc({ reason: error.code });
    next(error);
  };

/**
 * Returns where to send a browser without a session that asked for a page: to the login, which leads back to that page.
 * After a form the browser comes back to the form's address, without its fields, for another look. Null: the request is
 * refused.
 */
function loginFor(route: Route, req: Request): { status: 302 | 303; location: string } | null {
  const to = (path: string) => `/api/auth/login?${new URLSearchParams({ return_to: path })}`;
  if (route.method === 'GET') return { status: 302, location: to(req.url) };
  return prefersPages(req) ? { status: 303, location: to(route.path) } : null;
}

/** Sends callers without a session to the login, on pages and their forms. */
export const sendToLogin =
  (route: Route): ErrorRequestHandler =>
  (error, req, res, next) => {
    const login = error instanceof BatonError && error.status === 401 ? loginFor(route, req) : null;
    if (login === null) return next(error);
    res.statusCode = login.status;
    res.setHeader('Location', login.location);
    res.end();
  };

interface SendAwayParts {
  sendAway: (res: ServerResponse, reason: 'store' | 'busy') => void;
  logStreamOpen: StreamLog;
  metrics: Pick<Metrics, 'problems_total' | 'rate_limited_total'>;
}

/**
 * Reports overload, and a store or broker that is unavailable, inside the client's event stream. Counts the error,
 * because the common error handler does not see it.
 */
export const sendStreamAway =
  ({ metrics, sendAway, logStreamOpen }: SendAwayParts, route: Route): ErrorRequestHandler =>
  (error, _req, res, next) => {
    const isBusy = error instanceof BatonError && error.code === 'rate_limited';
    if (!(error instanceof BatonError) || !(isBusy || error.status >= 500)) return next(error);
    metrics.problems_total.inc({ code: error.code });
    if (isBusy) metrics.rate_limited_total.inc({ group: error.extras.rateGroup ?? route.rate ?? 'other' });
    sendAway(res, isBusy ? 'busy' : 'store');
    logStreamOpen(res);
  };
