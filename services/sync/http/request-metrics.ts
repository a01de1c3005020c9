import type { Request, RequestHandler, Response } from 'express';
import { contextOf } from '../../server/http/request-context.ts';
import { isOpenStream } from '../../server/http/request-log.ts';
import type { Metrics } from '../telemetry/metrics.ts';

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
