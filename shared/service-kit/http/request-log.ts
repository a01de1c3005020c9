import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Logger } from 'pino';
import { type HttpLogger, pinoHttp } from 'pino-http';
import { contextOf, isEventStream } from './request-context.ts';

/** Whether the answer is an event stream that was opened. */
export const isOpenStream = (res: ServerResponse): boolean => {
  const { route } = contextOf(res);
  return route !== undefined && isEventStream(route) && res.statusCode === 200;
};

/** The error exit tells the cause of a 5xx; here it only must not be missed. Streams are told when they open. */
function levelOf(res: ServerResponse): 'silent' | 'warn' | 'info' | 'debug' {
  if (isOpenStream(res)) return 'silent';
  if (res.statusCode >= 500) return 'warn';
  return contextOf(res).route?.path === '/healthz' ? 'debug' : 'info';
}

/** As pino-http says it of other answers. */
const messageOf = (req: IncomingMessage, res: ServerResponse): string =>
  !req.readableAborted && res.writableEnded ? 'request completed' : 'request aborted';

interface RequestLogParts {
  logger: Logger;
  /** Paths of which nothing is written. */
  ignored?: ReadonlySet<string>;
}

/**
 * pino-http: one line for each answer that is over, with what the serializers of the logger read of request and response.
 * `customProps`, `quietReqLogger` and `quietResLogger` stay unused: each makes one more logger a request (20 to 40 us).
 */
export const logRequests = ({ logger, ignored = new Set() }: RequestLogParts): HttpLogger =>
  pinoHttp({
    logger,
    wrapSerializers: false,
    genReqId: (_req, res) => contextOf(res).requestId,
    autoLogging: { ignore: ({ url = '' }) => ignored.has(url) },
    customLogLevel: (_req, res) => levelOf(res),
    customErrorMessage: messageOf,
    // Without the error that pino-http makes up for a 5xx.
    customErrorObject: (_req, _res, _error, line: object) => ({ ...line, err: undefined }),
  });
