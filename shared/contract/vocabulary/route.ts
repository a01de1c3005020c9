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
 * One row of the route table. The guard, the validation, the OpenAPI document and the types of handlers and of
 * client calls are all derived from it: what is not written here does not reach a handler.
 */
export interface Route {
  method: 'HEAD' | 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** HEAD is refused: what GET answers is told once, and must reach somebody. */
  getOnly: boolean;
  /** As in the contract, parameters in braces. */
  path: string;
  summary: string;
  /** `public` routes never see an identity header. */
  identity: 'public' | 'caller';
  /** `required` refuses a session without a device; `optional` gives such a caller its account-wide part. */
  device: 'required' | 'optional';
  /**
   * A page, or its form: who has no session is sent to the login and comes back, instead of being refused. With a form
   * only whoever prefers pages to problem documents.
   */
  loginRedirect: boolean;
  /** `full` refuses guests; `own` lets a guest act on the `device_id` in the path when it is its own. */
  scope: 'any' | 'full' | 'own';
  /**
   * Ends the caller's own session, or that of the device in the path. Works by an access token that has not run out also
   * while the auth broker cannot say whether its session is still live.
   */
  endsSession: boolean;
  /** The same-origin rule (CONTRACT.md, "Identity"): with unsafe methods unless a row says no, with GET what it says of streams. */
  sameOrigin: boolean;
  /** Pages of `APP_CORS_ORIGINS` may call it by a bearer token: routes of the API with an identity, unless a row says no. */
  cors: boolean;
  /** Of a route with an identity never null. */
  rate: RateGroup | null;
  /** Whether `Idempotency-Key` is honoured. */
  idempotent: boolean;
  params: TObject | null;
  /** Headers that the route looks at beside those of its kind. The handler checks them. */
  headers: Readonly<Record<string, HeaderField>>;
  query: TObject | null;
  body: TSchema | null;
  /** `form`: as a browser sends one without script (application/x-www-form-urlencoded). */
  bodyKind: 'json' | 'form';
  /** A request without a body is taken for `{}`. */
  bodyOptional: boolean;
  bodyLimitBytes: number;
  /** The handler reads the request's body or writes that of the answer itself, as bytes, for as long as it takes. */
  bytes: boolean;
  /** The media type of bytes that the handler reads itself. */
  bytesType: `${string}/${string}` | null;
  /** Status -> body. `null`: no body. A media type: that, not JSON. */
  answers: Readonly<Record<number, TSchema | null | `${string}/${string}`>>;
  /** Status -> headers of such an answer, beside those that every route of its kind sends. */
  answerHeaders: Readonly<Record<number, readonly AnswerHeader[]>>;
  /** What a 404 says was not found, the same for whatever is wrong with its name; null: the title of the registry. */
  notFound: string | null;
  /** Codes beyond those that every route of its kind can answer. */
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

/** Completes one row; what is left out takes the strict default. */
export function route<const R extends Given>(row: R): RouteOf<R> {
  const sameOrigin = row.method !== 'GET' && row.method !== 'HEAD';
  const cors = row.identity !== 'public' && row.path.startsWith('/api/');
  return { ...DEFAULTS, sameOrigin, cors, ...row } as unknown as RouteOf<R>;
}

type Shape<S> = S extends TSchema ? Static<S> : null;
export type ParamsOf<R extends Route> = Shape<R['params']>;
export type QueryOf<R extends Route> = Shape<R['query']>;
export type BodyOf<R extends Route> = Shape<R['body']>;
/** The JSON body of the success answer. */
export type AnswerOf<R extends Route> = Shape<R['answers'][keyof R['answers']]>;

/** The path with its parameters filled in, each percent-encoded. */
export function fillPath(path: string, params: Readonly<Record<string, string>>): string {
  return path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(params[name] ?? ''));
}
