import type { ServerResponse } from 'node:http';
import type { Logger } from 'pino';
import type { Middleware } from './middleware.ts';
import { contextOf, isEventStream } from './request-context.ts';

/** Whether the answer is an event stream that was opened. */
export const isOpenStream = (res: ServerResponse): boolean => {
  const { route } = contextOf(res);
  return route !== undefined && isEventStream(route) && res.statusCode === 200;
};

/** 5xx are told with their cause by the error exit; here they only must not be missed. */
function levelOf(res: ServerResponse): 'silent' | 'warn' | 'info' | 'debug' {
  if (isOpenStream(res)) return 'silent';
  if (res.statusCode >= 500) return 'warn';
  return contextOf(res).route?.path === '/healthz' ? 'debug' : 'info';
}

/** Writes the line of an answer that is over: id, method, path without query, status, milliseconds, code. */
export type RequestLog = (res: ServerResponse) => void;

/** One line for each answer. Of streams a sample is told, when they open. Nothing is prepared for what is not logged. */
export const makeRequestLog =
  ({ logger }: { logger: Logger }): RequestLog =>
  (res) => {
    const level = levelOf(res);
    if (!logger.isLevelEnabled(level)) return;
    const { requestId: id, startedAtMs, problemCode: code } = contextOf(res);
    const { req } = res;
    const { method, url } = req;
    const responseTime = Math.round(performance.now() - startedAtMs);
    const isWhole = !req.readableAborted && res.writableEnded;
    logger[level](
      { req: { id, method, url }, res, responseTime, code },
      isWhole ? 'request completed' : 'request aborted',
    );
  };

/** The same, where Express calls it. */
export const logRequests =
  (log: RequestLog): Middleware =>
  (_req, res, next) => {
    res.once('close', () => log(res));
    next();
  };
