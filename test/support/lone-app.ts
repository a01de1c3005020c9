import { messageClasses } from '../../shared/service-kit/http/express-app.ts';
import { makeDevIdentity } from '../../services/sync/identity/modes/dev.ts';
import type { Identity } from '../../services/sync/identity/identity.ts';
import type { Handler } from '../../services/sync/http/handler.ts';
import { startServer } from '../../shared/service-kit/http/server.ts';
import type { Route } from '../../shared/contract/vocabulary/route.ts';
import { publicApp } from '../unit/http/public-app.ts';
import { ROUTE_NAMES } from './samples.ts';

/** The public port of a replica in this process, without modules and without a store. */
export interface LoneApp {
  readonly url: string;
  /** Returns the handlers called since the last look, in order. Nothing else writes what a request asks for. */
  handled(): string[];
  /** Returns how many requests were identified since the last look. */
  identified(): number;
  stop(): Promise<void>;
}

/**
 * Starts the public port for tests of refusals that come before any module: the middleware, the guard and the validation
 * as in a replica, on the replica's server. Its identity is `dev`, and its origin is `PUBLIC_URL` of the tests of the
 * public app.
 */
export async function startLoneApp(): Promise<LoneApp> {
  let handled: string[] = [];
  let identified = 0;
  const handlers = ROUTE_NAMES.map((name): [string, Handler<Route>] => [
    name,
    () => {
      handled.push(name);
      return { status: 204 };
    },
  ]);
  const believing = makeDevIdentity({ ensureRow: () => Promise.resolve(), isRevoked: () => false });
  const identity: Identity = {
    ...believing,
    identify(req, route) {
      identified += 1;
      return believing.identify(req, route);
    },
  };
  const { app } = publicApp({ handlers: Object.fromEntries(handlers), identity });
  const server = await startServer({ app, classes: messageClasses(app), host: '127.0.0.1', port: 0 });
  return {
    url: `http://127.0.0.1:${server.port}`,
    handled() {
      const since = handled;
      handled = [];
      return since;
    },
    identified() {
      const since = identified;
      identified = 0;
      return since;
    },
    stop: () => server.close(0),
  };
}
