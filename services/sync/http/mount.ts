import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Request, RequestHandler, Response } from 'express';
import type { Logger } from 'pino';
import { BatonError } from '../../../shared/contract/errors.ts';
import type { Route } from '../../../shared/contract/vocabulary/route.ts';
import { ROUTES } from '../../../shared/contract/routes.ts';
import type { Caller } from '../identity/caller.ts';
import { guard } from '../identity/guard.ts';
import type { Identity } from '../identity/identity.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import { type AddressGroup, isAddressGroup } from './limits/address-limit.ts';
import type { AccountQueue } from './limits/account-queue.ts';
import type { Answer, Call, Handler, Handlers } from './handler.ts';
import { prefersPages } from '../../server/http/accepts.ts';
import { makeBody, NOTHING } from '../../server/http/request/body.ts';
import { methodNotAllowed } from '../../server/http/method-not-allowed.ts';
import { operationOf } from '../../server/http/request/operation.ts';
import type { ReplicaLimits } from './limits/replica-limit.ts';
import { tooManyWaiting } from '../../server/rate-limit-headers.ts';
import { contextOf, isEventStream } from '../../server/http/request-context.ts';
import { makeStreamLog } from './request-metrics.ts';
import { type Params, RouteIndex } from './route-index.ts';
import { queryOf } from '../../server/http/request/target.ts';
import { makeValidator } from '../../server/http/request/validation.ts';

export interface RouterDeps {
  handlers: Handlers;
  identity: Identity;
  /** Whether the device was signed out, as far as this replica has heard. */
  isRevoked: (account: string, deviceId: string) => boolean;
  /** For routes that need a device. Throws `device_required` when the caller's has no row and gets none; null: it has one. */
  requireRow: (caller: Caller) => Promise<void> | null;
  /** Somebody was let in. Must not wait. */
  onCaller: (caller: Caller) => void;
  /** Routes of what this installation has switched off, by their names in the table. */
  disabled: ReadonlySet<string>;
  sameOrigin: (req: IncomingMessage) => void;
  addressLimits: Readonly<Record<AddressGroup, RequestHandler>>;
  replicaLimits: Pick<ReplicaLimits, 'check'>;
  accountQueue: Pick<AccountQueue, 'enter'>;
  /** Answers in place of an event stream that cannot begin now. */
  sendAway: (res: ServerResponse, reason: 'store' | 'busy') => void;
  metrics: Metrics;
  logger: Logger;
}

type AnyHandler = Handler<Route>;

/** A request that has reached its row. */
interface Asked {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  readonly params: Params;
}

/** The whole chain of a row. Rejects with what the error exit answers. */
type Serve = (asked: Asked) => Promise<void>;

const AUTH_PREFIX = '/api/auth';

/** A row without handler, or a handler without row, is a mistake of the wiring and must not start. */
function checkComplete(handlers: Readonly<Record<string, unknown>>): void {
  const missing = Object.keys(ROUTES).filter((name) => typeof handlers[name] !== 'function');
  const surplus = Object.keys(handlers).filter((name) => !Object.hasOwn(ROUTES, name));
  if (missing.length + surplus.length === 0) return;
  throw new Error(
    `The route table and the handlers differ. Missing: ${missing.join(', ')}. Without a row: ${surplus.join(', ')}.`,
  );
}

/** Same origin, identity, limits, guard: what a request must pass before anything of it is read. Refusals are counted. */
async function admit(
  { identity, isRevoked, replicaLimits, requireRow, onCaller, sameOrigin, metrics }: RouterDeps,
  route: Route,
  { req, params }: Asked,
): Promise<Caller | null> {
  try {
    if (route.sameOrigin) sameOrigin(req);
    if (route.identity === 'public') return null;
    const identifying = identity.identify(req, route, params);
    const caller = identifying instanceof Promise ? await identifying : identifying;
    const { account, deviceId } = caller;
    if (deviceId !== null && isRevoked(account, deviceId)) throw new BatonError('session_revoked');
    replicaLimits.check(route, caller);
    onCaller(caller);
    guard(route, caller, params);
    const looking = route.device === 'required' ? requireRow(caller) : null;
    if (looking !== null) await looking;
    return caller;
  } catch (error) {
    // A 5xx says nothing about the sender, and who asks too often is counted as such.
    if (error instanceof BatonError && error.status < 500 && error.code !== 'rate_limited')
      metrics.auth_rejections_total.inc({ reason: error.code });
    throw error;
  }
}

/**
 * Where somebody without a session is sent who wanted a page: to the login, and back to where they were. Who sent a form
 * comes back to its page without what was in it, for another look. Null: they are refused instead.
 */
function loginFor(route: Route, req: IncomingMessage, error: unknown): { status: 302 | 303; location: string } | null {
  const isStranger = error instanceof BatonError && error.status === 401;
  if (!route.loginRedirect || !isStranger) return null;
  const to = (path: string) => `/api/auth/login?${new URLSearchParams({ return_to: path })}`;
  if (route.method === 'GET') return { status: 302, location: to(req.url ?? '') };
  return prefersPages(req) ? { status: 303, location: to(route.path) } : null;
}

const needsRow = (error: unknown, caller: Caller | null): caller is Caller =>
  error instanceof BatonError && error.code === 'device_required' && caller !== null && caller.deviceId !== null;

/**
 * Load, and a store or broker that is away, are told inside an event stream. Counted here, since the one error exit does
 * not see them; false: it is an error like any other.
 */
function sentAway({ metrics, sendAway }: RouterDeps, route: Route, res: ServerResponse, error: unknown): boolean {
  if (!isEventStream(route) || !(error instanceof BatonError)) return false;
  const isBusy = error.code === 'rate_limited';
  if (!isBusy && error.status < 500) return false;
  metrics.problems_total.inc({ code: error.code });
  if (isBusy) metrics.rate_limited_total.inc({ group: error.extras.rateGroup ?? route.rate ?? 'other' });
  sendAway(res, isBusy ? 'busy' : 'store');
  return true;
}

/** Runs the handler; when the caller's device has no row, once more after the row was restored. */
async function run(handler: AnyHandler, call: Call<Route>, identity: Identity): Promise<Answer<Route>> {
  try {
    return await handler(call);
  } catch (error) {
    const { caller } = call;
    if (!needsRow(error, caller) || !(await identity.restoreRow(caller))) throw error;
    return handler(call);
  }
}

/** A request's turn among those of its account. Relays take turns of their own, by the bytes that they move. */
function slotOf({ accountQueue }: RouterDeps, route: Route, caller: Caller | null, bytes: number) {
  if (caller === null || route.bytes) return null;
  const slot = accountQueue.enter(caller.account, bytes);
  if (slot === null) throw tooManyWaiting(route);
  return slot;
}

function send(res: ServerResponse, answer: Answer<Route>): void {
  if (answer === null) return;
  const { status, body, json } = answer;
  if (body === undefined && json === undefined) {
    // Node says how long it is, which it does not after `writeHead`.
    res.statusCode = status;
    res.end();
    return;
  }
  // As `res.json` writes it, without the search for an entity tag and a charset: 3 % of the time of a request.
  const text = json ?? JSON.stringify(body);
  const type = res.getHeader('Content-Type') ?? 'application/json; charset=utf-8';
  res.writeHead(status, { 'Content-Type': type, 'Content-Length': Buffer.byteLength(text) }).end(text);
}

/** Whoever sends bytes is told to stop: an answer that comes before the end of the body ends the connection. */
function closeAfterRefusal(req: IncomingMessage, res: ServerResponse): void {
  const { writeHead } = res;
  res.writeHead = function closing(this: ServerResponse, ...args: Parameters<typeof writeHead>) {
    if (!req.complete && !this.headersSent) this.setHeader('Connection', 'close');
    return writeHead.apply(this, args);
  } as typeof writeHead;
}

function redirect(res: ServerResponse, { status, location }: { status: number; location: string }): void {
  res.statusCode = status;
  res.setHeader('Location', location);
  res.end();
}

function makeServe(deps: RouterDeps, route: Route, handler: AnyHandler): Serve {
  const validator = makeValidator(route);
  const reader = route.body === null ? null : makeBody(route);
  const logStreamOpen = makeStreamLog(deps);
  return async (asked) => {
    const { req, res, params } = asked;
    if (route.bytes) closeAfterRefusal(req, res);
    let caller: Caller | null;
    try {
      caller = await admit(deps, route, asked);
    } catch (error) {
      const login = loginFor(route, req, error);
      if (login !== null) return redirect(res, login);
      if (!sentAway(deps, route, res, error)) throw error;
      return logStreamOpen(res);
    }
    validator.params(params);
    const query = route.query === null ? null : validator.query(queryOf(contextOf(res).target));
    const reading = reader === null ? NOTHING : reader.read(req);
    const bytes = reading instanceof Promise ? await reading : reading;
    const entering = slotOf(deps, route, caller, bytes.length);
    const slot = entering instanceof Promise ? await entering : entering;
    try {
      const body = reader === null ? null : reader.parse(bytes);
      validator.body(body);
      const operation = operationOf(req, route, bytes);
      const { requestId } = contextOf(res);
      const releaseSlot = (): void => slot?.end();
      // What the validators let through has the types of the row.
      const call = {
        caller,
        params,
        query,
        body,
        requestId,
        operation,
        releaseSlot,
        req,
        res,
      } as unknown as Call<Route>;
      send(res, await run(handler, call, deps.identity));
    } finally {
      slot?.end();
    }
    if (isEventStream(route)) logStreamOpen(res);
  };
}

/** Before anything of the request is looked at: what is switched off is not there. */
const refuseDisabled: Serve = () => Promise.reject(new BatonError('feature_disabled'));

/** Resolves when the step lets the request go on. */
const passes = async (step: RequestHandler, req: Request, res: Response): Promise<void> =>
  new Promise((resolve, reject) => {
    void step(req, res, (error) => (error === undefined ? resolve() : reject(error as Error)));
  });

/** Everything on sign-in counts together, paths that do not exist included. */
const isAuth = (path: string): boolean => path === AUTH_PREFIX || path.startsWith(`${AUTH_PREFIX}/`);

/** The limiter of a row that counts addresses in a group of its own, beside that of the prefix. */
function limitOf({ addressLimits }: RouterDeps, { path, rate }: Route): RequestHandler | null {
  const isCounted = rate === 'auth' && isAuth(path);
  return rate !== null && isAddressGroup(rate) && !isCounted ? addressLimits[rate] : null;
}

/** A row of the table, made ready when the replica starts. */
interface Row {
  readonly route: Route;
  readonly limit: RequestHandler | null;
  readonly serve: Serve;
}

function indexOf(deps: RouterDeps): RouteIndex<Row> {
  const index = new RouteIndex<Row>();
  for (const [name, route] of Object.entries<Route>(ROUTES)) {
    const handler = deps.handlers[name as keyof Handlers] as AnyHandler;
    const serve = deps.disabled.has(name) ? refuseDisabled : makeServe(deps, route, handler);
    index.add(route, { route, limit: limitOf(deps, route), serve });
  }
  return index;
}

/**
 * The rows of the route table, each as address limit -> same origin -> identity -> replica limit -> guard -> validation ->
 * handler. Nothing else is served on the public port. A known path with another method is `method_not_allowed`, an
 * unknown one `not_found`.
 * @throws when the handlers are not exactly the rows of the table
 */
export function makeRouter(deps: RouterDeps) {
  checkComplete(deps.handlers);
  const index = indexOf(deps);
  return async (req: Request, res: Response): Promise<void> => {
    const { target } = contextOf(res);
    if (isAuth(target.path)) await passes(deps.addressLimits.auth, req, res);
    const found = index.find(req.method ?? '', target.path);
    if (found.served === null) {
      if (found.methods.length > 0) throw methodNotAllowed(found.methods);
      throw new BatonError('not_found', 'Nothing is served under this path');
    }
    const { route, limit, serve } = found.served;
    if (limit !== null) await passes(limit, req, res);
    contextOf(res).route = route;
    await serve({ req, res, params: found.params });
  };
}
