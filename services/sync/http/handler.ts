import type { Request, Response } from 'express';
import type { AnswerOf, BodyOf, ParamsOf, QueryOf, Route } from '../../../shared/contract/route.ts';
import type { ROUTES } from '../../../shared/contract/routes.ts';
import type { Caller } from '../identity/caller.ts';

/**
 * The identity of one mutation. It is made once per request and travels into the script, which answers a repetition
 * (a client's, or the Redis client's own resend after a reconnect) with the first result.
 */
export interface Operation {
  /** `Idempotency-Key` when the route honours it and the client sent one, else random. */
  readonly id: string;
  /** True when the client chose the id: then a repetition may come minutes later. */
  readonly keyed: boolean;
  /** SHA-256 of the body, base64url: the same key with another body is refused. */
  readonly fingerprint: string;
}

/** What a handler gets: everything parsed, validated and allowed. */
export interface Call<R extends Route> {
  readonly caller: R['identity'] extends 'public' ? null : Caller;
  readonly params: ParamsOf<R>;
  readonly query: QueryOf<R>;
  readonly body: BodyOf<R>;
  readonly requestId: string;
  readonly operation: Operation;
  /** From here on it waits for others than this replica and its store: the next request of its account may begin. */
  readonly releaseSlot: () => void;
  readonly req: Request;
  readonly res: Response;
}

/**
 * Status and body, or its JSON where that lies ready: to read much and write it again takes long. Null when the handler wrote
 * to `res` itself: a page, or an event stream, whose handler returns once the stream has begun.
 */
export type Answer<R extends Route> = { status: keyof R['answers'] & number; body?: AnswerOf<R>; json?: string } | null;

export type Handler<R extends Route> = (call: Call<R>) => Answer<R> | Promise<Answer<R>>;

/** A handler for every row of a table, no more and no fewer. */
export type HandlersOf<T extends Record<string, Route>> = { [N in keyof T]: Handler<T[N]> };

export type Handlers = HandlersOf<typeof ROUTES>;
