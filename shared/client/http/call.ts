import type { BodyOf, ParamsOf, QueryOf, Route } from '../../contract/vocabulary/route.ts';
import type { ROUTES, RouteName } from '../../contract/routes.ts';

/** The types of calls, all derived from the route table. */
type Table = typeof ROUTES;

/** Every route but the event stream (`makeStream`) and those of bytes or headers (`transfers/relay-calls.ts`). */
export type CallName = {
  [N in RouteName]: Table[N]['answers'] extends Readonly<Record<number, 'text/event-stream'>>
    ? never
    : Table[N]['bytes'] extends true
      ? never
      : Table[N]['method'] extends 'HEAD'
        ? never
        : N;
}[RouteName];

/** The body of one answer of the table: parsed JSON, null if there is none, the text of a page. */
type AnswerBody<S> = S extends string ? string : BodyOf<Route & { body: S }>;

/** A successful response. The table says which body comes with which status. */
type AnswerTo<R extends Route> = {
  [S in keyof R['answers'] & number]: { readonly status: S; readonly body: AnswerBody<R['answers'][S]> };
}[keyof R['answers'] & number];

type Part<K extends string, S, T> = S extends null ? unknown : object extends T ? { [P in K]?: T } : { [P in K]: T };

/** The settings that any call takes besides the parts of its request. */
interface Conditions {
  /** Added to the client's own headers, which they override. */
  headers?: Readonly<Record<string, string>>;
  /** Ends the call at once; it then rejects with the signal's reason. */
  signal?: AbortSignal | undefined;
  /** The time for one attempt, to the last byte of its response. */
  timeoutMs?: number;
  /** Further attempts after the first. 0 switches retries off. */
  retries?: number | undefined;
}

type OptionsOf<R extends Route> = Part<'params', R['params'], ParamsOf<R>> &
  Part<'query', R['query'], QueryOf<R>> &
  Part<'body', R['body'], BodyOf<R>> &
  Conditions &
  (R['idempotent'] extends true ? { idempotencyKey?: string | undefined } : unknown);

export type CallOptions<N extends CallName> = OptionsOf<Table[N]>;
export type CallAnswer<N extends CallName> = AnswerTo<Table[N]>;

/** The options may be left out if the route needs none. */
export type CallArguments<N extends CallName> =
  object extends CallOptions<N> ? [options?: CallOptions<N>] : [options: CallOptions<N>];

/** The options of any call, as the client itself sees them. */
export interface AnyCall extends Conditions {
  params?: Record<string, string>;
  query?: Record<string, string>;
  body?: unknown;
  idempotencyKey?: string | undefined;
}
