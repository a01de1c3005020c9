import type { Request, RequestHandler, Response } from 'express';
import type { Logger } from 'pino';
import { pinoHttp } from 'pino-http';
import type { Metrics } from '../../sync/telemetry/metrics.ts';
import { contextOf, isEventStream } from './request-context.ts';

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

/** One line for each answer: id, method, path without query, status, milliseconds, code. A stream is told when it opens. */
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
      metrics.http_request_duration_seconds.observe(labelsOf(res), (performance.now() - startedAtMs) / 1000);
    });
    next();
  };

/** A stream lasts until it is rotated: it is logged and counted when it has opened, and not timed. */
export function noteStreamOpen(metrics: Metrics, req: Request, res: Response): void {
  if (!isOpenStream(res) || !res.headersSent) return;
  countAnswer(metrics, res);
  req.log?.info('stream opened');
}
