import type { RequestHandler } from 'express';
import type { Route } from '../../../../shared/contract/vocabulary/route.ts';
import { type BodyReader, makeBody, NOTHING } from '../../../../shared/service-kit/http/request/body.ts';
import { operationOf } from '../../../../shared/service-kit/http/request/operation.ts';
import { queryOf } from '../../../../shared/service-kit/http/request/target.ts';
import { makeValidator } from '../../../../shared/service-kit/http/request/validation.ts';
import { tooManyWaiting } from '../../../../shared/service-kit/rate-limit-headers.ts';
import type { AccountQueue } from '../limits/account-queue.ts';
import { stateOf, whenThere } from './state.ts';

/** Returns the steps that read a request: parameters and query, then the body, which is parsed in the request's turn. */
export function inputOf(route: Route, accountQueue: Pick<AccountQueue, 'enter'>): RequestHandler[] {
  const validator = makeValidator(route);
  const reader = route.body === null ? null : makeBody(route);

  const validatePath: RequestHandler = (req, res, next) => {
    validator.params(req.params);
    const state = stateOf(res);
    state.query = route.query === null ? null : validator.query(queryOf(state.target));
    next();
  };

  /** Reads the bytes of the body without parsing them. This waits for the sender. */
  const readBody = ({ read }: BodyReader): RequestHandler => {
    return async (req, res, next) => {
      // Node calls the chain before it has parsed a body that came with the head. After this the body is here.
      await Promise.resolve();
      stateOf(res).bytes = await read(req);
      next();
    };
  };

  /** Waits for the request's turn in its account. Relay requests take separate turns, by the bytes that they move. */
  const takeTurn: RequestHandler = (_req, res, next) => {
    const state = stateOf(res);
    if (state.caller === undefined || route.bytes) return next();
    const turn = accountQueue.enter(state.caller.account, state.bytes?.length ?? 0);
    if (turn === null) throw tooManyWaiting(route);
    return whenThere(turn, (given) => {
      state.turn = given;
      next();
    });
  };

  const validateBody: RequestHandler = (req, res, next) => {
    const state = stateOf(res);
    const { bytes = NOTHING } = state;
    state.body = reader === null ? null : reader.parse(bytes);
    validator.body(state.body);
    state.operation = operationOf(req, route, bytes);
    next();
  };

  return [validatePath, ...(reader === null ? [] : [readBody(reader)]), takeTurn, validateBody];
}
