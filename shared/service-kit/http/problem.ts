import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Logger } from 'pino';
import { BatonError, ERRORS, type ErrorCode } from '../../contract/errors.ts';
import type { Problem } from '../../contract/vocabulary/problem.ts';
import type { Route } from '../../contract/vocabulary/route.ts';
import type { MetricsOf } from '../telemetry/metrics.ts';
import type { HTTP_METRICS } from './metrics.ts';
import { contextOf, type RequestContext } from './request-context.ts';

/** The errors of the body parser, which reads a form of the reference broker, except the one with a number in its text. */
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

/** Returns every failure as an error of the registry. An unknown one becomes `internal`, with the failure as its cause. */
function asBatonError(error: unknown): BatonError {
  if (error instanceof BatonError) return error;
  if (error instanceof URIError) return new BatonError('invalid_request', 'The path is not valid percent-encoding');
  const known = isBodyError(error) ? ofBodyParser(error) : null;
  return known ?? new BatonError('internal', undefined, { cause: error });
}

/**
 * Returns the detail of a problem. The text of an unforeseen failure goes only to the log. `not_found` has the route's own
 * text, which is the same whatever was wrong with the name.
 */
function detailOf({ code, message }: BatonError, route: Route | undefined): string {
  const { title } = ERRORS[code];
  if (code === 'internal') return title;
  return code === 'not_found' && message === title ? (route?.notFound ?? title) : message;
}

/** Returns the problem document (RFC 9457). The type is the address that explains the code; a member `type` replaces it. */
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

/** Returns the challenge (RFC 6750, section 3): only the scheme without a token, else also what is wrong with the token. */
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

/** Logs a 5xx. A 503 means that a dependency is unreachable: it is expected, and the part that noticed it logs it once. */
function log(logger: Logger, req: IncomingMessage, res: ServerResponse, error: BatonError): void {
  if (error.status < 500) return;
  const level = error.status === 503 ? 'warn' : 'error';
  const { method, url } = req;
  logger[level](
    { req: { id: contextOf(res).requestId, method, url }, err: error.extras.cause ?? error, code: error.code },
    'request failed',
  );
}

/** The error exit, with the parameters that Express expects. */
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
 * Makes the one error exit. It turns whatever a route threw into a response, counts it by code if the service has metrics,
 * and picks its log level (4xx appear only in the request log, with their code). A response that has already begun is cut
 * off instead.
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
