import type { IncomingMessage } from 'node:http';
import type { Route } from '../../../shared/contract/vocabulary/route.ts';
import type { Caller } from './caller.ts';

/** The source of callers: one of the modes of `APP_IDENTITY`. */
export interface Identity {
  /**
   * Identifies who sent this request, at once if nothing has to be asked. It reads only the headers of the mode in force.
   * @throws unauthenticated, untrusted_edge, invalid_request (an identity header twice or as an underscore twin)
   */
  identify(req: IncomingMessage, route: Route): Caller | Promise<Caller>;
  /** Restores the row of a caller's device that has none. Resolves to true if there is one now and the caller may retry. */
  restoreRow(caller: Caller): Promise<boolean>;
}
