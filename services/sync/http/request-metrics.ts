import type { ServerResponse } from 'node:http';
import { signinRoutes } from '../../../shared/contract/modules/signin.ts';
import { makeSampler } from '../../server/telemetry/sampler.ts';
import { contextOf } from '../../server/http/request-context.ts';
import { isOpenStream } from '../../server/http/request-log.ts';
import type { Metrics } from '../telemetry/metrics.ts';

/** A long poll. */
const WAITING_ROUTE = signinRoutes.pollLogin.path;

/** A histogram for each route would be most of all series. What waits is not counted with what does not. */
function prefixOf(path: string): string {
  if (path === WAITING_ROUTE) return WAITING_ROUTE;
  return /^\/api\/[a-z]+(?=\/|$)/.exec(path)?.[0] ?? 'other';
}

/** Of what reached no row. */
const NO_ROUTE = { path: 'none', method: 'other' };
/** By the paths of rows. */
const prefixes = new Map<string, string>();

function countAnswer(metrics: Metrics, res: ServerResponse): void {
  const { path, method } = contextOf(res).route ?? NO_ROUTE;
  metrics.http_requests_total.inc({ route: path, method, status: String(res.statusCode) });
}

/** Counts an answer that is over and times it, by row of the route table; what reached no row is `none`. Not open streams. */
export function countRequest(metrics: Metrics, res: ServerResponse): void {
  if (isOpenStream(res)) return;
  countAnswer(metrics, res);
  const { route, startedAtMs } = contextOf(res);
  if (route?.bytes) return;
  const tookSeconds = (performance.now() - startedAtMs) / 1000;
  const path = route?.path ?? NO_ROUTE.path;
  const prefix = prefixes.get(path) ?? prefixOf(path);
  prefixes.set(path, prefix);
  metrics.http_request_duration_seconds.observe({ prefix }, tookSeconds);
}

/** Lines a second about streams: a replica that takes over 5,000 of another would write as many within seconds. */
const STREAM_LINES = 10;

export type StreamLog = (res: ServerResponse) => void;

/** A stream lasts until it is rotated: it is logged and counted when it has opened, and not timed. Lines are a sample. */
export function makeStreamLog({ metrics }: { metrics: Metrics }): StreamLog {
  const sample = makeSampler(STREAM_LINES);
  return (res) => {
    if (!isOpenStream(res) || !res.headersSent) return;
    countAnswer(metrics, res);
    const leftOut = sample();
    if (leftOut === null) return;
    res.req.log.info(leftOut > 0 ? { res, leftOut } : { res }, 'stream opened');
  };
}
