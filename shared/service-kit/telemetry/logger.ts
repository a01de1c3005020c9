import { type DestinationStream, type Level, type Logger, pino } from 'pino';

/** Headers that carry a credential or an identity. Their values are removed by these names and prefixes. */
const SECRET_HEADERS = ['authorization', 'cookie', 'set-cookie', 'x-edge-secret', 'x-poll-secret'];
const SECRET_PREFIXES = ['x-auth-', 'x-dev-'];
const REMOVED = '[removed]';

const isSecret = (header: string): boolean => {
  const name = header.toLowerCase().replaceAll('_', '-');
  return SECRET_HEADERS.includes(name) || SECRET_PREFIXES.some((prefix) => name.startsWith(prefix));
};

const withoutSecrets = (headers: unknown): unknown =>
  typeof headers !== 'object' || headers === null
    ? headers
    : Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, isSecret(name) ? REMOVED : value]));

/** Returns only the path, because a query can contain login codes. Also removes the origin of an absolute-form target. */
export const pathOf = (url: string): string =>
  url.replace(/^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i, '').replace(/[?#].*$/s, '');

interface LoggedRequest {
  id?: unknown;
  method?: string;
  url?: string;
  originalUrl?: string;
}

const requestOf = ({ id, method, url, originalUrl }: LoggedRequest): object => ({
  id,
  method,
  path: pathOf(originalUrl ?? url ?? ''),
});

interface LoggedResponse {
  statusCode?: number;
  /** The context of the request (`http/request-context.ts`). */
  locals?: { route?: { path: string }; problemCode?: string };
}

const responseOf = ({ statusCode, locals }: LoggedResponse): object => ({
  status: statusCode,
  route: locals?.route?.path,
  code: locals?.problemCode,
});

/**
 * Returns only what identifies the failure. Errors of the Redis client carry the arguments of the command (texts of users),
 * and errors of the body parser carry the body.
 */
function errorOf(error: unknown, depth = 0): unknown {
  if (!(error instanceof Error)) return typeof error === 'string' ? error : undefined;
  const { name, message, stack, cause } = error;
  const code = 'code' in error ? error.code : undefined;
  return { type: name, message, code, stack, cause: depth < 3 ? errorOf(cause, depth + 1) : undefined };
}

/**
 * Makes the logger of the process, which writes JSON lines to `destination` or standard output. Under the names that are
 * logged here (`req`, `res`, `headers`, `err`) it leaves out bodies, query strings, credentials and identity headers.
 */
export const makeLogger = (
  { level, server }: { level: Level | 'silent'; server: string },
  destination?: DestinationStream,
): Logger =>
  pino(
    {
      level,
      base: { server },
      serializers: {
        req: requestOf,
        res: responseOf,
        headers: withoutSecrets,
        err: (error: unknown) => errorOf(error),
      },
      // Only the top level is covered: deeper patterns halve the speed of logging, and headers have their serializer.
      redact: { paths: SECRET_HEADERS.map((name) => `["${name}"]`), censor: REMOVED },
    },
    destination ?? pino.destination(1),
  );
