import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ErrorCode } from '../../contract/errors.ts';
import type { RateGroup } from '../../contract/rates.ts';
import type { Route } from '../../contract/vocabulary/route.ts';
import { randomId } from '../random-id.ts';
import type { Middleware } from './middleware.ts';
import { type Target, targetOf } from './request/target.ts';

/** The data of a request for the log and the metrics. Each part is noted by the code that learns it. */
export interface RequestContext {
  readonly requestId: string;
  readonly startedAtMs: number;
  readonly target: Target;
  /** The route; absent until one is reached. */
  route?: Route;
  /** The code of the error that was answered. */
  problemCode?: ErrorCode;
  /** The rate group that refused, if it is not that of the route. */
  rateGroup?: RateGroup;
}

/** A response with its context, where Express has `locals`. */
type Begun = ServerResponse & { locals: RequestContext };

export const contextOf = (res: ServerResponse): RequestContext => (res as Begun).locals;

export const isEventStream = (route: Route): boolean => route.answers[200] === 'text/event-stream';

/** Returns whether HEAD is refused: for a stream, which has no length, and for a response that can be read only once. */
export const refusesHead = (route: Route): boolean => route.getOnly || isEventStream(route);

const ACCEPTED_ID = /^[A-Za-z0-9._-]{1,64}$/;

function idOf({ headers }: IncomingMessage): string {
  const sent = headers['x-request-id'];
  return typeof sent === 'string' && ACCEPTED_ID.test(sent) ? sent : randomId(12);
}

/** Begins the context. The id is the `X-Request-Id` of the client if it is fit for a log, else a random one. */
function beginRequest(req: IncomingMessage, res: ServerResponse): void {
  (res as Begun).locals = { requestId: idOf(req), startedAtMs: performance.now(), target: targetOf(req.url ?? '') };
}

/** Begins the context as a middleware, and echoes the id on every response. */
export const requestId: Middleware = (req, res, next) => {
  beginRequest(req, res);
  res.setHeader('X-Request-Id', contextOf(res).requestId);
  next();
};
