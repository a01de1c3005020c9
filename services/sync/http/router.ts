import type { IncomingMessage, ServerResponse } from 'node:http';
import { type ErrorRequestHandler, type Express, type RequestHandler, Router } from 'express';
import type { Logger } from 'pino';
import { BatonError } from '../../../shared/contract/errors.ts';
import { MODULES, ROUTES } from '../../../shared/contract/routes.ts';
import type { Route } from '../../../shared/contract/vocabulary/route.ts';
import { methodNotAllowed } from '../../../shared/service-kit/http/method-not-allowed.ts';
import { contextOf, isEventStream, refusesHead } from '../../../shared/service-kit/http/request-context.ts';
import type { Caller } from '../identity/caller.ts';
import type { Identity } from '../identity/identity.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import {
  checkOrigin,
  countRejected,
  guardRoute,
  identify,
  limitAccount,
  needRow,
  noteCaller,
  refuseRevoked,
  sendStreamAway,
  sendToLogin,
} from './chain/admission.ts';
import { closeAfterRefusal, endTurn, handle } from './chain/answer.ts';
import { inputOf } from './chain/input.ts';
import type { Handler, Handlers } from './handler.ts';
import type { AccountQueue } from './limits/account-queue.ts';
import { type AddressGroup, isAddressGroup } from './limits/address-limit.ts';
import type { ReplicaLimits } from './limits/replica-limit.ts';
import { makeStreamLog } from './request-metrics.ts';

export interface RouterDeps {
  handlers: Handlers;
  identity: Identity;
  /** Whether the device was signed out, as far as this replica knows. */
  isRevoked: (account: string, deviceId: string) => boolean;
  /** For routes that need a device. Null: the device has a row. Throws `device_required` when it has none and gets none. */
  requireRow: (caller: Caller) => Promise<void> | null;
  /** Reports a caller that was let in. Must not wait. */
  onCaller: (caller: Caller) => void;
  /** Names of the routes that this installation has switched off. */
  disabled: ReadonlySet<string>;
  sameOrigin: (req: IncomingMessage, route: Route) => void;
  addressLimits: Readonly<Record<AddressGroup, RequestHandler>>;
  replicaLimits: Pick<ReplicaLimits, 'check'>;
  accountQueue: Pick<AccountQueue, 'enter'>;
  /** Responds in place of an event stream that cannot begin now. */
  sendAway: (res: ServerResponse, reason: 'store' | 'busy') => void;
  metrics: Metrics;
  logger: Logger;
}

type Step = RequestHandler | ErrorRequestHandler;

/** Throws for a row without a handler or a handler without a row: the wiring is wrong, and the replica must not start. */
function checkComplete(handlers: Readonly<Record<string, unknown>>): void {
  const missing = Object.keys(ROUTES).filter((name) => typeof handlers[name] !== 'function');
  const surplus = Object.keys(handlers).filter((name) => !Object.hasOwn(ROUTES, name));
  if (missing.length + surplus.length === 0) return;
  throw new Error(
    `The route table and the handlers differ. Missing: ${missing.join(', ')}. Without a row: ${surplus.join(', ')}.`,
  );
}

/** Notes the route, which log and metrics name from here on. */
const noteRoute =
  (route: Route): RequestHandler =>
  (_req, res, next) => {
    contextOf(res).route = route;
    next();
  };

const refuseDisabled: RequestHandler = () => {
  throw new BatonError('feature_disabled');
};

/** The path prefix under which sign-in is limited as a whole, including paths that do not exist. */
export const AUTH_PREFIX = '/api/auth';

/** Returns the address limit of a route that has its own rate group, in addition to the limit of the prefix. */
function addressLimit({ addressLimits }: RouterDeps, { path, rate }: Route): RequestHandler[] {
  const isCounted = rate === 'auth' && path.startsWith(`${AUTH_PREFIX}/`);
  return rate !== null && isAddressGroup(rate) && !isCounted ? [addressLimits[rate]] : [];
}

/** Makes the chain of a route: everything that a request passes, in this order. */
function makeChainOf(deps: RouterDeps): (name: string, route: Route) => Step[] {
  const { identity, metrics } = deps;
  const logStreamOpen = makeStreamLog(deps);
  const handlers = deps.handlers as unknown as Readonly<Record<string, Handler<Route>>>;

  const admission = (route: Route): Step[] => [
    ...(route.sameOrigin ? [checkOrigin(deps.sameOrigin, route)] : []),
    ...(route.identity === 'public'
      ? []
      : [
          identify(identity, route),
          refuseRevoked(deps.isRevoked),
          limitAccount(deps.replicaLimits, route),
          noteCaller(deps.onCaller),
          guardRoute(route),
          ...(route.device === 'required' ? [needRow(deps.requireRow)] : []),
        ]),
    // These two handle only the errors of the steps above.
    countRejected(metrics),
    ...(route.loginRedirect ? [sendToLogin(route)] : []),
  ];

  return (name, route) => {
    const beginning = [...addressLimit(deps, route), noteRoute(route)];
    const ending = [endTurn, ...(route.bytes ? [closeAfterRefusal] : [])];
    if (deps.disabled.has(name)) return [...beginning, refuseDisabled, ...ending];
    return [
      ...beginning,
      ...admission(route),
      ...inputOf(route, deps.accountQueue),
      // Also handles too many waiting requests of the account. The handler reports later errors itself.
      ...(isEventStream(route) ? [sendStreamAway({ metrics, sendAway: deps.sendAway, logStreamOpen }, route)] : []),
      handle({ identity, logStreamOpen }, route, handlers[name] as Handler<Route>),
      ...ending,
    ];
  };
}

type Row = readonly [name: string, route: Route];

/** Returns the path as Express writes it. */
const expressPath = (path: string): string => path.replace(/\{(\w+)\}/g, ':$1');

/**
 * Groups the rows of a module by path, as Express writes it. Paths without parameters come first, so that none is taken
 * for a parameter.
 */
function rowsByPath(rows: readonly Row[]): Map<string, Row[]> {
  const byPath = new Map<string, Row[]>();
  const hasParameter = ([, { path }]: Row): number => Number(path.includes('{'));
  for (const row of [...rows].sort((a, b) => hasParameter(a) - hasParameter(b))) {
    const path = expressPath(row[1].path);
    byPath.set(path, [...(byPath.get(path) ?? []), row]);
  }
  return byPath;
}

/** Methods of each path, in the order of the table. Express answers HEAD by GET, which some routes refuse. */
const METHODS = new Map<string, Set<string>>();
for (const route of Object.values<Route>(ROUTES)) {
  const path = expressPath(route.path);
  const methods = METHODS.get(path) ?? new Set();
  METHODS.set(path, methods.add(route.method));
  if (route.method === 'GET' && !refusesHead(route)) methods.add('HEAD');
}

/** Refuses a method that no module serves under this path, including OPTIONS and a refused HEAD. */
function refuseMethod(path: string): RequestHandler {
  const methods = METHODS.get(path) ?? new Set();
  return ({ method }, _res, next) => {
    if (methods.has(method)) return next();
    throw methodNotAllowed([...methods]);
  };
}

function makeRouter(rows: Map<string, Row[]>, chainOf: ReturnType<typeof makeChainOf>): Router {
  const router = Router({ caseSensitive: true, strict: true });
  for (const [path, rowsOfPath] of rows) {
    const refuse = refuseMethod(path);
    const place = router.route(path);
    if (!METHODS.get(path)?.has('HEAD')) place.head(refuse);
    for (const [name, route] of rowsOfPath) {
      const method = route.method.toLowerCase() as 'head' | 'get' | 'post' | 'put' | 'patch' | 'delete';
      place[method](...(chainOf(name, route) as RequestHandler[]));
    }
    place.all(refuse);
  }
  return router;
}

/**
 * Mounts the routers of the public port, one for each module, with whole paths. A request enters only the router that
 * serves its path, because Express leaves any other by `setImmediate`, after a turn of the event loop.
 * @throws when the handlers are not exactly the rows of the table
 */
export function mountRouters(app: Express, deps: RouterDeps): void {
  checkComplete(deps.handlers);
  const chainOf = makeChainOf(deps);
  for (const table of MODULES) {
    const rows = rowsByPath(Object.entries<Route>(table));
    app.route([...rows.keys()]).all(makeRouter(rows, chainOf));
  }
}
