import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AnswerOf, BodyOf, ParamsOf, QueryOf, Route } from '../../../shared/contract/vocabulary/route.ts';
import type { ROUTES } from '../../../shared/contract/routes.ts';
import type { Operation } from '../../../shared/service-kit/operation.ts';
import type { Caller } from '../identity/caller.ts';

/** What a handler gets. All of it is parsed, validated and allowed. */
export interface Call<R extends Route> {
  readonly caller: R['identity'] extends 'public' ? null : Caller;
  readonly params: ParamsOf<R>;
  readonly query: QueryOf<R>;
  readonly body: BodyOf<R>;
  readonly requestId: string;
  readonly operation: Operation;
  /**
   * Lets the next request of the account begin, because from here on this one waits for something other than this
   * replica and its store.
   */
  readonly releaseSlot: () => void;
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
}

/**
 * Status and body, or its JSON if that already exists, because parsing and writing a large body takes long. Null when the
 * handler wrote to `res` itself: a page, or an event stream, whose handler returns once the stream has begun.
 */
export type Answer<R extends Route> = { status: keyof R['answers'] & number; body?: AnswerOf<R>; json?: string } | null;

export type Handler<R extends Route> = (call: Call<R>) => Answer<R> | Promise<Answer<R>>;

/** A handler for each row of a table, no more and no fewer. */
export type HandlersOf<T extends Record<string, Route>> = { [N in keyof T]: Handler<T[N]> };

export type Handlers = HandlersOf<typeof ROUTES>;
