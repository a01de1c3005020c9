import type { IncomingMessage, ServerResponse } from 'node:http';
import { ROUTES } from '../../../shared/contract/routes.ts';
import { ANSWER_HEADERS } from '../../../shared/contract/vocabulary/answer-headers.ts';
import type { Route } from '../../../shared/contract/vocabulary/route.ts';
import type { Middleware } from '../../../shared/service-kit/http/middleware.ts';
import { contextOf } from '../../../shared/service-kit/http/request-context.ts';

/** How long a browser may keep the response to a preflight. Chromium keeps it for two hours at most. */
const KEPT_SECONDS = 600;
/** Headers that a program may send on any route, besides those of the route. None is a cookie or an identity header. */
const SENT = ['Authorization', 'Content-Type', 'Idempotency-Key', 'Last-Event-ID', 'X-Request-Id'];

const rows = Object.values<Route>(ROUTES).filter(({ cors }) => cors);
const sentHeaders = [...new Set([...SENT, ...rows.flatMap(({ headers }) => Object.keys(headers))])].join(', ');
const exposedHeaders = Object.keys(ANSWER_HEADERS)
  .filter((name) => name !== 'Set-Cookie')
  .join(', ');

/** The rows by the pattern of their path. */
const byPath = [...new Set(rows.map(({ path }) => path))].map((path) => ({
  pattern: new RegExp(`^${path.replaceAll('.', '\\.').replaceAll(/\{\w+\}/g, '[^/]+')}$`),
  methods: rows.filter((row) => row.path === path).map(({ method }) => method),
}));

const methodsAt = (path: string): string[] =>
  byPath.filter(({ pattern }) => pattern.test(path)).flatMap(({ methods }) => methods);

/** Returns the method that a preflight names in its headers (Fetch, section 3.3.2); null: this is the request itself. */
const askedMethod = ({ method, headers }: IncomingMessage): string | null =>
  method === 'OPTIONS' ? (headers['access-control-request-method'] ?? null) : null;

function answerPreflight(res: ServerResponse, methods: readonly string[]): void {
  res.setHeader('Access-Control-Allow-Methods', methods.join(', '));
  res.setHeader('Access-Control-Allow-Headers', sentHeaders);
  res.setHeader('Access-Control-Max-Age', String(KEPT_SECONDS));
  res.statusCode = 204;
  res.end();
}

/**
 * Lets pages of these origins read responses of the API (Fetch, "CORS protocol"). They have no cookies:
 * `Access-Control-Allow-Credentials` is never sent, and a request with a cookie gets none of these headers. Rows whose
 * `cors` is off do not change. The same-origin rule decides what such a page may do without a cookie.
 */
export function makeCors(origins: readonly string[]): Middleware {
  if (origins.length === 0) return (_req, _res, next) => next();
  return (req, res, next) => {
    const { path } = contextOf(res).target;
    // A cache keeps one response for each origin.
    if (path.startsWith('/api/')) res.setHeader('Vary', 'Origin');
    const { origin, cookie } = req.headers;
    if (origin === undefined || cookie !== undefined || !origins.includes(origin)) return next();
    const methods = methodsAt(path);
    const asked = askedMethod(req);
    if (!methods.includes(asked ?? req.method ?? '')) return next();
    res.setHeader('Access-Control-Allow-Origin', origin);
    res.setHeader('Access-Control-Expose-Headers', exposedHeaders);
    if (asked === null) next();
    else answerPreflight(res, methods);
  };
}
