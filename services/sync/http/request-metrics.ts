import type { ServerResponse } from 'node:http';
import type { Logger } from 'pino';
import type { Route } from '../../../shared/contract/vocabulary/route.ts';
import { signinRoutes } from '../../../shared/contract/modules/signin.ts';
import { makeSampler } from '../../server/telemetry/sampler.ts';
import { contextOf } from '../../server/http/request-context.ts';
import { isOpenStream } from '../../server/http/request-log.ts';
import type { Metrics } from '../telemetry/metrics.ts';

const labelsOf = (res: ServerResponse) => {
  const { route } = contextOf(res);
  return { route: route?.path ?? 'none', method: route?.method ?? 'other' };
};

/** A long poll. */
const WAITING_ROUTE = signinRoutes.pollLogin.path;

/** A histogram for each route would be most of all series. What waits is not counted with what does not. */
function prefixOf(route: Route | undefined): string {
  if (route?.path === WAITING_ROUTE) return WAITING_ROUTE;
  return /^\/api\/[a-z]+(?=\/|$)/.exec(route?.path ?? '')?.[0] ?? 'other';
}

const countAnswer = (metrics: Metrics, res: ServerResponse): void =>
  metrics.http_requests_total.inc({ ...labelsOf(res), status: String(res.statusCode) });

/** Counts an answer that is over and times it, by row of the route table; what reached no row is `none`. Not open streams. */
export function countRequest(metrics: Metrics, res: ServerResponse): void {
  if (isOpenStream(res)) return;
  countAnswer(metrics, res);
  const { route, startedAtMs } = contextOf(res);
  if (route?.bytes) return;
  const tookSeconds = (performance.now() - startedAtMs) / 1000;
  metrics.http_request_duration_seconds.observe({ prefix: prefixOf(route) }, tookSeconds);
}

/** Lines a second about streams: a replica that takes over 5,000 of another would write as many within seconds. */
const STREAM_LINES = 10;

/** A stream lasts until it is rotated: it is logged and counted when it has opened, and not timed. Lines are a sample. */
export function makeStreamLog({ metrics, logger }: { metrics: Metrics; logger: Logger }) {
  const sample = makeSampler(STREAM_LINES);
  return (res: ServerResponse): void => {
    if (!isOpenStream(res) || !res.headersSent) return;
    countAnswer(metrics, res);
    const leftOut = sample();
    if (leftOut === null) return;
    const { method, url } = res.req;
    const req = { id: contextOf(res).requestId, method, url };
    logger.info(leftOut > 0 ? { req, leftOut } : { req }, 'stream opened');
  };
}
