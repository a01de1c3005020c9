import type { ErrorRequestHandler, Request, RequestHandler, Response } from 'express';
import { BatonError } from '../../../../shared/contract/errors.ts';
import type { Route } from '../../../../shared/contract/vocabulary/route.ts';
import { isEventStream } from '../../../../shared/service-kit/http/request-context.ts';
import type { Caller } from '../../identity/caller.ts';
import type { Identity } from '../../identity/identity.ts';
import type { Answer, Call, Handler } from '../handler.ts';
import type { StreamLog } from '../request-metrics.ts';
import { stateOf } from './state.ts';

/** A sender of bytes is told to stop: an answer that comes before the end of the body ends the connection. */
function closeBeforeEnd(req: Request, res: Response): void {
  if (!req.complete && !res.headersSent) res.setHeader('Connection', 'close');
}

/** The same for a request that fails, at whatever step of its chain. */
export const closeAfterRefusal: ErrorRequestHandler = (error, req, res, next) => {
  closeBeforeEnd(req, res);
  next(error);
};

const needsRow = (error: unknown, caller: Caller | null): caller is Caller =>
  error instanceof BatonError && error.code === 'device_required' && caller !== null && caller.deviceId !== null;

/** Runs the handler; when the caller's device has no row, once more after the row was restored. */
async function run(handler: Handler<Route>, call: Call<Route>, identity: Identity): Promise<Answer<Route>> {
  try {
    return await handler(call);
  } catch (error) {
    const { caller } = call;
    if (!needsRow(error, caller) || !(await identity.restoreRow(caller))) throw error;
    return handler(call);
  }
}

function send(res: Response, answer: Answer<Route>): void {
  if (answer === null) return;
  const { status, body, json } = answer;
  if (body === undefined && json === undefined) {
    // Node says how long it is, which it does not after `writeHead`.
    res.statusCode = status;
    res.end();
    return;
  }
  // As `res.json` writes it, without the search for an entity tag and a charset: 3 % of the time of a request.
  const text = json ?? JSON.stringify(body);
  const type = res.getHeader('Content-Type') ?? 'application/json; charset=utf-8';
  res.writeHead(status, { 'Content-Type': type, 'Content-Length': Buffer.byteLength(text) }).end(text);
}

interface HandleParts {
  identity: Identity;
  logStreamOpen: StreamLog;
}

/** Calls the handler of the route, and sends what it answers. */
export const handle =
  ({ identity, logStreamOpen }: HandleParts, route: Route, handler: Handler<Route>): RequestHandler =>
  async (req, res) => {
    const { caller = null, query, body, requestId, operation, turn } = stateOf(res);
    const releaseSlot = (): void => turn?.end();
    // What the validators let through has the types of the row.
    const call = {
      caller,
      params: req.params,
      query,
      body,
      requestId,
      operation,
      releaseSlot,
      req,
      res,
    } as unknown as Call<Route>;
    const answer = await run(handler, call, identity);
    if (route.bytes && answer !== null) closeBeforeEnd(req, res);
    send(res, answer);
    turn?.end();
    if (isEventStream(route)) logStreamOpen(res);
  };

/** Whatever fails after the request has got its turn ends the turn. */
export const endTurn: ErrorRequestHandler = (error, _req, res, next) => {
  stateOf(res).turn?.end();
  next(error);
};
