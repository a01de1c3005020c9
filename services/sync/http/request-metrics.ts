import type { ServerResponse } from 'node:http';
import { signinRoutes } from '../../../shared/contract/modules/signin.ts';
import { makeSampler } from '../../../shared/service-kit/telemetry/sampler.ts';
import type { Middleware } from '../../../shared/service-kit/http/middleware.ts';
import { contextOf } from '../../../shared/service-kit/http/request-context.ts';
import { isOpenStream } from '../../../shared/service-kit/http/request-log.ts';
import type { Metrics } from '../telemetry/metrics.ts';

/** A long poll. */
const WAITING_ROUTE = signinRoutes.pollLogin.path;

/** Returns the label of a duration. One histogram a route would be most of all series. Long polls are counted apart. */
function prefixOf(path: string): string {
  if (path === WAITING_ROUTE) return WAITING_ROUTE;
  return /^\/api\/[a-z]+(?=\/|$)/.exec(path)?.[0] ?? 'other';
}

/** Labels of a request that reached no row. */
const NO_ROUTE = { path: 'none', method: 'other' };

/** Counts a response, by row of the route table. The label is `none` for a request that reached no row. */
type CountAnswer = (res: ServerResponse) => void;

function makeAnswerCounter({ http_requests_total }: Pick<Metrics, 'http_requests_total'>): CountAnswer {
  /** Children bound to their labels at first use, by status and route, because every request is counted. */
  const bound = new Map<string, ReturnType<typeof http_requests_total.labels>>();
  return (res) => {
    const { path: route, method } = contextOf(res).route ?? NO_ROUTE;
    const key = `${res.statusCode} ${method} ${route}`;
    let child = bound.get(key);
    if (child === undefined) {
      child = http_requests_total.labels({ route, method, status: String(res.statusCode) });
      bound.set(key, child);
    }
    child.inc();
  };
}

/** Counts each response when it is over, and times it by the prefix of its route. Open streams are left out. */
export function countRequests(metrics: Metrics): Middleware {
  const countAnswer = makeAnswerCounter(metrics);
  const durations = new Map<string, ReturnType<typeof metrics.http_request_duration_seconds.labels>>();

  function durationOf(path: string) {
    const known = durations.get(path);
    if (known !== undefined) return known;
    const child = metrics.http_request_duration_seconds.labels({ prefix: prefixOf(path) });
    durations.set(path, child);
    return child;
  }

  function onClose(this: ServerResponse): void {
    if (isOpenStream(this)) return;
    countAnswer(this);
    const { route, startedAtMs } = contextOf(this);
    if (route?.bytes) return;
    durationOf(route?.path ?? NO_ROUTE.path).observe((performance.now() - startedAtMs) / 1000);
  }

  return (_req, res, next) => {
    res.on('close', onClose);
    next();
  };
}

/** Lines a second about streams. A replica that takes over 5,000 streams of another would write as many within seconds. */
const STREAM_LINES = 10;

export type StreamLog = (res: ServerResponse) => void;

/** Logs and counts a stream when it opens, because it lasts until it is rotated. Lines are a sample; no time is taken. */
export function makeStreamLog({ metrics }: { metrics: Metrics }): StreamLog {
  const countAnswer = makeAnswerCounter(metrics);
  const sample = makeSampler(STREAM_LINES);
  return (res) => {
    if (!isOpenStream(res) || !res.headersSent) return;
    countAnswer(res);
    const leftOut = sample();
    if (leftOut === null) return;
    res.req.log.info(leftOut > 0 ? { res, leftOut } : { res }, 'stream opened');
  };
}
