import type { IncomingMessage } from 'node:http';
import type { Route } from '../../../shared/contract/vocabulary/route.ts';
import type { Caller } from './caller.ts';

/** Where callers come from: one of the modes of `APP_IDENTITY`. */
export interface Identity {
  /**
   * Who sent this request; at once where nobody has to be asked. Only the headers of the mode in force are looked at.
   * @throws unauthenticated, untrusted_edge, invalid_request (an identity header twice or as an underscore twin)
   */
  identify(req: IncomingMessage, route: Route): Caller | Promise<Caller>;
  /** Called when a caller's device turned out to have no row. True: there is one now, try again. */
  restoreRow(caller: Caller): Promise<boolean>;
}
