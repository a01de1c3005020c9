import type { Request, RequestHandler, Response } from 'express';
import type { Logger } from 'pino';
import { pinoHttp } from 'pino-http';
import type { Route } from '../../../shared/contract/route.ts';
import { signinRoutes } from '../../../shared/contract/signin.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import { makeSampler } from '../telemetry/sampler.ts';
import { contextOf, isEventStream } from './request-context.ts';

/** A long poll. */
const WAITING_ROUTE = signinRoutes.pollLogin.path;

const isOpenStream = (res: Response): boolean => {
  const { route } = contextOf(res);
  return route !== undefined && isEventStream(route) && res.statusCode === 200;
};

/** 5xx are told with their cause by the error exit; here they only must not be missed. */
function levelOf(res: Response): 'silent' | 'warn' | 'info' | 'debug' {
  if (isOpenStream(res)) return 'silent';
  if (res.statusCode >= 500) return 'warn';
  return contextOf(res).route?.path === '/healthz' ? 'debug' : 'info';
}

/** One line for each answer: id, method, path without query, status, milliseconds, code. Of streams a sample is told, when they open. */
export const makeRequestLog = ({ logger }: { logger: Logger }): RequestHandler =>
  pinoHttp<Request, Response>({
    logger,
    genReqId: (_req, res) => contextOf(res).requestId,
    // The logger's own serializers: method and path, status, and what names an error.
    wrapSerializers: false,
    customLogLevel: (_req, res) => levelOf(res),
    customSuccessObject: (_req, res, line: object) => ({ ...line, code: contextOf(res).problemCode }),
    customErrorObject: (_req, res, _error, line: object) => ({
      ...line,
      err: undefined,
      code: contextOf(res).problemCode,
    }),
    customErrorMessage: () => 'request completed',
  });

const labelsOf = (res: Response) => {
  const { route } = contextOf(res);
  return { route: route?.path ?? 'none', method: route?.method ?? 'other' };
};

/** A histogram for each route would be most of all series. What waits is not told together with what does not. */
function prefixOf(route: Route | undefined): string {
  if (route?.path === WAITING_ROUTE) return WAITING_ROUTE;
  return /^\/api\/[a-z]+(?=\/|$)/.exec(route?.path ?? '')?.[0] ?? 'other';
}

const countAnswer = (metrics: Metrics, res: Response): void =>
  metrics.http_requests_total.inc({ ...labelsOf(res), status: String(res.statusCode) });

/** Counts answers and times them, by row of the route table; what reached no row is `none`. Open streams are left out. */
export const makeRequestMetrics =
  ({ metrics }: { metrics: Metrics }): RequestHandler =>
  (_req, res, next) => {
    const startedAtMs = performance.now();
    res.once('close', () => {
      if (isOpenStream(res)) return;
      countAnswer(metrics, res);
      if (contextOf(res).route?.bytes) return;
      const tookSeconds = (performance.now() - startedAtMs) / 1000;
      metrics.http_request_duration_seconds.observe({ prefix: prefixOf(contextOf(res).route) }, tookSeconds);
    });
    next();
  };

/** Lines a second about streams: a replica that takes over 5,000 of another would write as many within seconds. */
const STREAM_LINES = 10;

/** A stream lasts until it is rotated: it is logged and counted when it has opened, and not timed. Lines are a sample. */
export function makeStreamLog(metrics: Metrics) {
  const sample = makeSampler(STREAM_LINES);
  return (req: Request, res: Response): void => {
    if (!isOpenStream(res) || !res.headersSent) return;
    countAnswer(metrics, res);
    const leftOut = sample();
    if (leftOut !== null) req.log?.info(leftOut > 0 ? { leftOut } : {}, 'stream opened');
  };
}
