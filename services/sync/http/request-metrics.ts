import type { ServerResponse } from 'node:http';
import { signinRoutes } from '../../../shared/contract/modules/signin.ts';
import { makeSampler } from '../../../shared/service-kit/telemetry/sampler.ts';
import type { Middleware } from '../../../shared/service-kit/http/middleware.ts';
import { contextOf } from '../../../shared/service-kit/http/request-context.ts';
import { isOpenStream } from '../../../shared/service-kit/http/request-log.ts';
import type { Metrics } from '../telemetry/metrics.ts';

/** A long poll. */
const WAITING_ROUTE = signinRoutes.pollLogin.path;

/** A histogram for each route would be most of all series. What waits is not counted with what does not. */
function prefixOf(path: string): string {
  if (path === WAITING_ROUTE) return WAITING_ROUTE;
  return /^\/api\/[a-z]+(?=\/|$)/.exec(path)?.[0] ?? 'other';
}

/** The labels of a request that reached no row. */
const NO_ROUTE = { path: 'none', method: 'other' };

/** Counts an answer, by row of the route table; what reached no row is `none`. */
type CountAnswer = (res: ServerResponse) => void;

function makeAnswerCounter({ http_requests_total }: Pick<Metrics, 'http_requests_total'>): CountAnswer {
  /** Bound to their labels at the first use, by status and route: every request is counted. */
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

/** Counts each answer when it is over, and times it by where its route begins. Not open streams. */
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

/** Lines a second about streams: a replica that takes over 5,000 of another would write as many within seconds. */
const STREAM_LINES = 10;

export type StreamLog = (res: ServerResponse) => void;

/** A stream lasts until it is rotated: it is logged and counted when it has opened, and not timed. Lines are a sample. */
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
