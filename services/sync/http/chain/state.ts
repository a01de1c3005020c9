import type { Response } from 'express';
import type { Operation } from '../../../../shared/service-kit/operation.ts';
import type { RequestContext } from '../../../../shared/service-kit/http/request-context.ts';
import type { Caller } from '../../identity/caller.ts';
import type { Slot } from '../limits/account-queue.ts';

/** The facts about a request that the steps of a chain collect for later steps. */
export interface ChainState extends RequestContext {
  /** Absent on public routes. */
  caller?: Caller;
  query?: unknown;
  /** The raw body. */
  bytes?: Buffer;
  body?: unknown;
  operation?: Operation;
  /** The request's turn among those of its account. */
  turn?: Slot;
}

/** Returns the state of a request, which Express keeps with the response. */
export const stateOf = (res: Response): ChainState => res.locals as ChainState;

/** Returns the caller, on a route that has one. */
export const callerOf = (res: Response): Caller => stateOf(res).caller as Caller;

/** Calls `goOn` with the value: at once if it is no promise, otherwise when it resolves. */
export const whenThere = <T>(value: T | Promise<T>, goOn: (value: T) => void): void | Promise<void> =>
  value instanceof Promise ? value.then(goOn) : goOn(value);
