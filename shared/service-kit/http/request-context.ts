import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ErrorCode } from '../../contract/errors.ts';
import type { RateGroup } from '../../contract/rates.ts';
import type { Route } from '../../contract/vocabulary/route.ts';
import { randomId } from '../random-id.ts';
import type { Middleware } from './middleware.ts';
import { type Target, targetOf } from './request/target.ts';

/** What the log and the metrics want to know about a request, noted by whoever finds it out. */
export interface RequestContext {
  readonly requestId: string;
  readonly startedAtMs: number;
  readonly target: Target;
  /** The row of the route table; absent while no row was reached. */
  route?: Route;
  /** The code of the error that was answered. */
  problemCode?: ErrorCode;
  /** The group that refused, where it is not that of the row. */
  rateGroup?: RateGroup;
}

/** Express has the same place for it. */
type Begun = ServerResponse & { locals: RequestContext };

export const contextOf = (res: ServerResponse): RequestContext => (res as Begun).locals;

export const isEventStream = (route: Route): boolean => route.answers[200] === 'text/event-stream';

/** HEAD is refused for a stream, which has no length, and for an answer that can be had only once. */
export const refusesHead = (route: Route): boolean => route.getOnly || isEventStream(route);

const ACCEPTED_ID = /^[A-Za-z0-9._-]{1,64}$/;

function idOf({ headers }: IncomingMessage): string {
  const sent = headers['x-request-id'];
  return typeof sent === 'string' && ACCEPTED_ID.test(sent) ? sent : randomId(12);
}

/** Begins the context: `X-Request-Id` as it was sent, when it is fit for a log, else a random one. */
function beginRequest(req: IncomingMessage, res: ServerResponse): void {
  (res as Begun).locals = { requestId: idOf(req), startedAtMs: performance.now(), target: targetOf(req.url ?? '') };
}

/** The same, where Express calls it; the id is echoed on every answer. */
export const requestId: Middleware = (req, res, next) => {
  beginRequest(req, res);
  res.setHeader('X-Request-Id', contextOf(res).requestId);
  next();
};
