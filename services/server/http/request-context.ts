import { randomBytes } from 'node:crypto';
import type { RequestHandler, Response } from 'express';
import type { ErrorCode } from '../../../shared/contract/errors.ts';
import type { RateGroup } from '../../../shared/contract/rates.ts';
import type { Route } from '../../../shared/contract/route.ts';

/** What the log and the metrics want to know about a request, noted by whoever finds it out. */
export interface RequestContext {
  requestId: string;
  /** The row of the route table; absent while no row was reached. */
  route?: Route;
  /** The code of the error that was answered. */
  problemCode?: ErrorCode;
  /** The group that refused, where it is not that of the row. */
  rateGroup?: RateGroup;
}

export const contextOf = (res: Response): RequestContext => res.locals as RequestContext;

export const isEventStream = (route: Route): boolean => route.answers[200] === 'text/event-stream';

/** HEAD is refused for a stream, which has no length, and for an answer that can be had only once. */
export const refusesHead = (route: Route): boolean => route.getOnly || isEventStream(route);

const ACCEPTED_ID = /^[A-Za-z0-9._-]{1,64}$/;

/** `X-Request-Id` as it was sent, when it is fit for a log; else a random one. Echoed on every answer. */
export const requestId: RequestHandler = (req, res, next) => {
  const sent = req.headers['x-request-id'];
  const id = typeof sent === 'string' && ACCEPTED_ID.test(sent) ? sent : randomBytes(12).toString('base64url');
  contextOf(res).requestId = id;
  res.setHeader('X-Request-Id', id);
  next();
};
