import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Logger } from 'pino';
import { BatonError, ERRORS, type ErrorCode } from '../../contract/errors.ts';
import type { Problem } from '../../contract/vocabulary/problem.ts';
import type { Route } from '../../contract/vocabulary/route.ts';
import type { MetricsOf } from '../telemetry/metrics.ts';
import type { HTTP_METRICS } from './metrics.ts';
import { contextOf, type RequestContext } from './request-context.ts';

/** What the body parser calls its errors, but for the one with a number in its text: it reads a form of the reference broker. */
const BODY_ERRORS: Readonly<Record<string, readonly [ErrorCode, string]>> = {
  'encoding.unsupported': ['unsupported_media_type', 'Send the body without Content-Encoding'],
  'charset.unsupported': ['unsupported_media_type', 'JSON is UTF-8'],
  'request.aborted': ['invalid_request', 'The body ended early'],
  'request.size.invalid': ['invalid_request', 'The body does not have its declared length'],
};

interface BodyError {
  type: string;
  limit?: number;
}

function ofBodyParser({ type, limit }: BodyError): BatonError | null {
  if (type === 'entity.too.large')
    return new BatonError('body_too_large', `The body is limited to ${limit} bytes here`);
  const known = Object.hasOwn(BODY_ERRORS, type) ? BODY_ERRORS[type] : undefined;
  return known === undefined ? null : new BatonError(...known);
}

const isBodyError = (error: unknown): error is BodyError =>
  error instanceof Error && 'type' in error && typeof error.type === 'string';

/** Every failure as an error of the registry. What is not ours becomes `internal`, with the failure as its cause. */
function asBatonError(error: unknown): BatonError {
  if (error instanceof BatonError) return error;
  if (error instanceof URIError) return new BatonError('invalid_request', 'The path is not valid percent-encoding');
  const known = isBodyError(error) ? ofBodyParser(error) : null;
  return known ?? new BatonError('internal', undefined, { cause: error });
}

/**
 * The text of an unforeseen failure is for the log, where its cause stands. `not_found` has the text of the route's row,
 * which is the same whatever was wrong with the name.
 */
function detailOf({ code, message }: BatonError, route: Route | undefined): string {
  const { title } = ERRORS[code];
  if (code === 'internal') return title;
  return code === 'not_found' && message === title ? (route?.notFound ?? title) : message;
}

/** RFC 9457. The type is where the code is explained; a further member `type` replaces it. */
function problemOf(error: BatonError, { requestId, route }: RequestContext): Problem & Record<string, unknown> {
  const { code, status, extras } = error;
  const { title } = ERRORS[code];
  return {
    type: `/api/docs#error-${code}`,
    ...extras.members,
    title,
    status,
    detail: detailOf(error, route),
    code,
    request_id: requestId,
    ...(extras.errors && { errors: extras.errors }),
  };
}

const waits = (status: number): boolean => status === 429 || status === 503;

/** RFC 6750, section 3: who shows no token is told the scheme alone, who shows one what is wrong with it. */
function challenge(authorization: string | undefined, { message }: BatonError): string {
  const scheme = 'Bearer realm="baton"';
  if (!/^bearer /i.test(authorization ?? '')) return scheme;
  return `${scheme}, error="invalid_token", error_description="${message.replace(/[^\x20-\x7e]|["\\]/g, '')}"`;
}

function answer(req: IncomingMessage, res: ServerResponse, error: BatonError): void {
  if (error.status === 401) res.setHeader('WWW-Authenticate', challenge(req.headers.authorization, error));
  for (const [name, value] of Object.entries(error.extras.headers ?? {})) res.setHeader(name, value);
  const { retryAfterSeconds } = error.extras;
  if (retryAfterSeconds !== undefined) res.setHeader('Retry-After', String(Math.max(0, Math.ceil(retryAfterSeconds))));
  else if (waits(error.status) && !res.hasHeader('Retry-After')) res.setHeader('Retry-After', '1');
  const body = Buffer.from(JSON.stringify(problemOf(error, contextOf(res))));
  res.statusCode = error.status;
  res.setHeader('Content-Type', 'application/problem+json');
  res.setHeader('Content-Length', body.length);
  res.end(body);
}

/** 503 is how a replica says that something it needs is away: expected, and told once by whoever noticed. */
function log(logger: Logger, req: IncomingMessage, res: ServerResponse, error: BatonError): void {
  if (error.status < 500) return;
  const level = error.status === 503 ? 'warn' : 'error';
  const { method, url } = req;
  logger[level](
    { req: { id: contextOf(res).requestId, method, url }, err: error.extras.cause ?? error, code: error.code },
    'request failed',
  );
}

/** As Express takes the exit for errors, of which it asks for nothing else. */
type ErrorExit = (thrown: unknown, req: IncomingMessage, res: ServerResponse, next?: unknown) => void;

type ProblemMetrics = Pick<MetricsOf<typeof HTTP_METRICS>, 'problems_total' | 'rate_limited_total'>;

function count(
  { problems_total, rate_limited_total }: ProblemMetrics,
  { code, extras }: BatonError,
  group: string,
): void {
  problems_total.inc({ code });
  if (code === 'rate_limited') rate_limited_total.inc({ group: extras.rateGroup ?? group });
}

/**
 * The one error exit: turns whatever a route threw into an answer, counts it by code, where a service has metrics, and
 * picks its level in the log (4xx appear only in the request log, with their code). An answer that has already begun is
 * cut off instead.
 */
export const makeProblemHandler =
  ({ logger, metrics }: { logger: Logger; metrics?: ProblemMetrics }): ErrorExit =>
  (thrown, req, res, _next) => {
    const error = asBatonError(thrown);
    const context = contextOf(res);
    context.problemCode = error.code;
    if (metrics) count(metrics, error, context.rateGroup ?? context.route?.rate ?? 'other');
    log(logger, req, res, error);
    if (res.headersSent) res.destroy();
    else answer(req, res, error);
  };
