import type { RequestListener, ServerResponse } from 'node:http';
import type { Express } from 'express';
import { makeExpress } from '../../server/http/express-app.ts';
import { hostChecks } from '../../server/http/host-check.ts';
import { makeProblemHandler } from '../../server/http/problem.ts';
import { beginRequest } from '../../server/http/request-context.ts';
import { makeRequestLog } from '../../server/http/request-log.ts';
import { boundUnreadBody } from './limits/unread-body.ts';
import { makeRouter, passes, type RouterDeps } from './mount.ts';
import { countRequest } from './request-metrics.ts';
import { commonHeaders } from './response-headers.ts';

interface PublicAppDeps extends RouterDeps {
  /** Host names that requests may ask for; null: any. */
  allowedHosts?: readonly string[] | null;
  /** What a request is refused with, for whatever was thrown. */
  faultOf?: (error: unknown) => unknown;
}

/**
 * The public port, in the order in which a request meets it. Express has one layer: its router would walk over a layer for
 * each row. What does not wait happens in the call of that layer, up to the identity; every failure is answered by the one
 * error exit.
 */
export function makePublicApp({ allowedHosts = null, faultOf = (error) => error, ...deps }: PublicAppDeps): Express {
  const { logger, metrics } = deps;
  const checks = hostChecks(allowedHosts);
  const route = makeRouter(deps);
  const fail = makeProblemHandler({ logger, metrics });
  const log = makeRequestLog({ logger });

  function onClose(this: ServerResponse): void {
    log(this);
    countRequest(metrics, this);
  }

  const serve = async (...[req, res]: Parameters<RequestListener>): Promise<void> => {
    try {
      beginRequest(req, res);
      res.on('close', onClose);
      boundUnreadBody(req, res);
      for (const check of checks) await passes(check, req, res);
      await route(req, res);
    } catch (error) {
      fail(faultOf(error), req, res);
    }
  };
  return makeExpress(commonHeaders).use((req, res) => void serve(req, res));
}
