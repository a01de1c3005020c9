import type { Static, TObject, TSchema } from 'typebox';
import type { AnswerHeader } from './answer-headers.ts';
import type { ErrorCode } from '../errors.ts';
import { LIMITS } from '../limits.ts';
import type { RateGroup } from '../rates.ts';

/** A header of a request: text, unless it has a schema. */
export interface HeaderField {
  description: string;
  required?: true;
  schema?: TSchema;
}

/**
 * One row of the route table. The guard, the validation, the OpenAPI document and the types of handlers and of client calls
 * are derived from it. Input that is not declared here does not reach a handler.
 */
export interface Route {
  method: 'HEAD' | 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** True: HEAD is refused, because the response of GET comes only once and must not be discarded. */
  getOnly: boolean;
  /** The path as in the contract, with parameters in braces. */
  path: string;
  summary: string;
  /** `public` routes never see an identity header. */
  identity: 'public' | 'caller';
  /** `required` refuses a session without a device; `optional` gives such a caller its account-wide part. */
  device: 'required' | 'optional';
  /**
   * True for a page or its form: a caller without a session is not refused, but redirected to the login and back. For a
   * form, this applies only to a caller that prefers pages to problem documents.
   */
  loginRedirect: boolean;
  /** `full` refuses guests; `own` lets a guest act on the `device_id` in the path when it is its own. */
  scope: 'any' | 'full' | 'own';
  /**
   * True: ends the caller's own session, or that of the device in the path. An access token that has not expired is enough,
   * even while the auth broker cannot tell whether its session is still live.
   */
  endsSession: boolean;
  /**
   * The same-origin rule (CONTRACT.md, "Identity"): for unsafe methods unless a row says no; for GET its rule for streams.
   */
  sameOrigin: boolean;
  /** Pages of `APP_CORS_ORIGINS` may call it with a bearer token: API routes with an identity, unless a row says no. */
  cors: boolean;
  /** Never null for a route with an identity. */
  rate: RateGroup | null;
  /** Whether `Idempotency-Key` is honoured. */
  idempotent: boolean;
  params: TObject | null;
  /** Headers that the route reads besides those of its kind. The handler checks them. */
  headers: Readonly<Record<string, HeaderField>>;
  query: TObject | null;
  body: TSchema | null;
  /** `form`: the form of a browser without script (application/x-www-form-urlencoded). */
  bodyKind: 'json' | 'form';
  /** True: a request without a body counts as `{}`. */
  bodyOptional: boolean;
  bodyLimitBytes: number;
  /** True: the handler itself reads the request's body or writes the response's body, as bytes, for as long as it takes. */
  bytes: boolean;
  /** The media type of bytes that the handler reads itself. */
  bytesType: `${string}/${string}` | null;
  /** Status -> body. `null`: no body. A media type: a body of that type instead of JSON. */
  answers: Readonly<Record<number, TSchema | null | `${string}/${string}`>>;
  /** Status -> headers of such a response, besides those that every route of its kind sends. */
  answerHeaders: Readonly<Record<number, readonly AnswerHeader[]>>;
  /** The text of a 404, which is the same whatever is wrong with the name. Null means the title of the registry. */
  notFound: string | null;
  /** The codes beyond those that every route of its kind can return. */
  errors: readonly ErrorCode[];
}

type Needed = 'method' | 'path' | 'summary' | 'answers';

const DEFAULTS = {
  getOnly: false,
  identity: 'caller',
  device: 'optional',
  loginRedirect: false,
  scope: 'any',
  endsSession: false,
  rate: null,
  idempotent: false,
  params: null,
  headers: {},
  query: null,
  body: null,
  bodyKind: 'json',
  bodyOptional: false,
  bodyLimitBytes: LIMITS.jsonBodyBytes,
  bytes: false,
  bytesType: null,
  answerHeaders: {},
  notFound: null,
  errors: [],
} as const;

type WithDefaults<R> = Omit<Route, keyof R> & typeof DEFAULTS & { sameOrigin: boolean; cors: boolean };
type Given = Pick<Route, Needed> & Partial<Route>;
export type RouteOf<R> = { [K in keyof Route]: K extends keyof R ? R[K] : WithDefaults<R>[K & keyof WithDefaults<R>] };

/** Completes one row; omitted fields take the strict default. */
export function route<const R extends Given>(row: R): RouteOf<R> {
  const sameOrigin = row.method !== 'GET' && row.method !== 'HEAD';
  const cors = row.identity !== 'public' && row.path.startsWith('/api/');
  return { ...DEFAULTS, sameOrigin, cors, ...row } as unknown as RouteOf<R>;
}

type Shape<S> = S extends TSchema ? Static<S> : null;
export type ParamsOf<R extends Route> = Shape<R['params']>;
export type QueryOf<R extends Route> = Shape<R['query']>;
export type BodyOf<R extends Route> = Shape<R['body']>;
/** The JSON body of the successful response. */
export type AnswerOf<R extends Route> = Shape<R['answers'][keyof R['answers']]>;

/** Fills in the parameters of a path, each percent-encoded. */
export function fillPath(path: string, params: Readonly<Record<string, string>>): string {
  return path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(params[name] ?? ''));
}
