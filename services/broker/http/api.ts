import type { IncomingMessage } from 'node:http';
import type { Express, RequestHandler, Response } from 'express';
import { brokerRoutes } from '../../../shared/contract/modules/broker.ts';
import type { AnswerOf, BodyOf, QueryOf, Route } from '../../../shared/contract/vocabulary/route.ts';
import { makeBody, NOTHING } from '../../../shared/service-kit/http/request/body.ts';
import { methodNotAllowed } from '../../../shared/service-kit/http/method-not-allowed.ts';
import { operationOf } from '../../../shared/service-kit/http/request/operation.ts';
import { contextOf } from '../../../shared/service-kit/http/request-context.ts';
import { makeValidator } from '../../../shared/service-kit/http/request/validation.ts';

/** The input of a handler: the checked request, and the calling app. */
export interface ServiceCall<R extends Route> {
  readonly app: string;
  readonly query: QueryOf<R>;
  readonly body: BodyOf<R>;
  /** Null if the route has no key or none was sent. */
  readonly idempotencyKey: string | null;
}

interface ServiceAnswer<R extends Route> {
  status: keyof R['answers'] & number;
  body?: AnswerOf<R>;
}

type ServiceHandler<R extends Route> = (call: ServiceCall<R>) => Promise<ServiceAnswer<R>>;
export type ServiceHandlers = { [N in keyof typeof brokerRoutes]: ServiceHandler<(typeof brokerRoutes)[N]> };

type ServiceAuth = (req: IncomingMessage) => string;

function makeServe(route: Route, handler: ServiceHandler<Route>, serviceAuth: ServiceAuth): RequestHandler {
  const validator = makeValidator(route);
  const body = route.body === null ? null : makeBody(route);
  return async (req, res: Response) => {
    contextOf(res).route = route;
    const app = serviceAuth(req);
    const query = validator.query(req.query);
    const bytes = body === null ? NOTHING : await body.read(req);
    const value = body === null ? null : body.parse(bytes);
    validator.body(value);
    const { id, keyed } = operationOf(req, route, bytes);
    // Values that pass the validators have the types of the route.
    const call = { app, query, body: value, idempotencyKey: keyed ? id : null } as unknown as ServiceCall<Route>;
    const answer = await handler(call);
    res.status(answer.status);
    if (answer.body === undefined) res.end();
    else res.json(answer.body);
  };
}

/** Mounts the routes that services call (CONTRACT.md, "The auth broker"): service authentication -> validation -> handler. */
export function mountApi(app: Express, handlers: ServiceHandlers, serviceAuth: ServiceAuth): void {
  const rows = Object.entries<Route>(brokerRoutes);
  for (const [name, route] of rows) {
    const method = route.method.toLowerCase() as 'get' | 'post';
    const handler = handlers[name as keyof ServiceHandlers] as unknown as ServiceHandler<Route>;
    app[method](route.path, makeServe(route, handler, serviceAuth));
  }
  for (const path of new Set(rows.map(([, route]) => route.path))) {
    const methods = rows.filter(([, route]) => route.path === path).map(([, route]) => route.method);
    app.all(path, () => {
      throw methodNotAllowed(methods);
    });
  }
}
