import type { Request, RequestHandler, Response } from 'express';
import type { Logger } from 'pino';
import { pinoHttp } from 'pino-http';
import { contextOf, isEventStream } from './request-context.ts';

/** Whether the answer is an event stream that was opened. */
export const isOpenStream = (res: Response): boolean => {
  const { route } = contextOf(res);
  return route !== undefined && isEventStream(route) && res.statusCode === 200;
};

/** 5xx are told with their cause by the error exit; here they only must not be missed. */
function levelOf(res: Response): 'silent' | 'warn' | 'info' | 'debug' {
  if (isOpenStream(res)) return 'silent';
  if (res.statusCode >= 500) return 'warn';
  return contextOf(res).route?.path === '/healthz' ? 'debug' : 'info';
}

/** One line for each answer: id, method, path without query, status, milliseconds, code. Of streams a sample is told, when they open. */
export const makeRequestLog = ({ logger }: { logger: Logger }): RequestHandler =>
  pinoHttp<Request, Response>({
    logger,
    genReqId: (_req, res) => contextOf(res).requestId,
    // The logger's own serializers: method and path, status, and what names an error.
    wrapSerializers: false,
    customLogLevel: (_req, res) => levelOf(res),
    customSuccessObject: (_req, res, line: object) => ({ ...line, code: contextOf(res).problemCode }),
    customErrorObject: (_req, res, _error, line: object) => ({
      ...line,
      err: undefined,
      code: contextOf(res).problemCode,
    }),
    customErrorMessage: () => 'request completed',
  });
