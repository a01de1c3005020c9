import type { ErrorRequestHandler, Express } from 'express';
import type { Logger } from 'pino';
import type { Registry } from 'prom-client';
import { BatonError } from '../../contract/errors.ts';
import { makeExpress } from './express-app.ts';
import { checkHead } from './head-check.ts';
import { hostChecks } from './host-check.ts';
import { requestId } from './request-context.ts';
import { logRequests } from './request-log.ts';
import { setVersion } from './api-version.ts';

export interface Readiness {
  ready: boolean;
  /** The reasons why it is not ready, for an operator. */
  reasons: readonly string[];
}

interface AdminDeps {
  /** Returns whether it has started and is not draining. Must not ask the store: a failover must not end every endpoint. */
  isReady: () => Readiness;
  /** Asks each dependency for its present state, and may take as long as that does. Null if there is no `/statusz`. */
  status: (() => Promise<object>) | null;
  registry: Registry;
  /** The host names that requests may use; null allows any. */
  allowedHosts?: readonly string[] | null;
  logger: Logger;
}

/** Makes the app of the admin port (contract, "Operations"): for the platform and its operators, never for the public. */
export function makeAdminApp({ isReady, status, registry, allowedHosts = null, logger }: AdminDeps): Express {
  const paths = ['/livez', '/readyz', ...(status === null ? [] : ['/statusz']), '/metrics'];
  const app = makeExpress();
  app.use(requestId, (_req, res, next) => {
    setVersion(res);
    res.setHeader('Cache-Control', 'no-store');
    next();
  });
  // Probes and scrapes come all the time, so they are not logged.
  app.use(logRequests({ logger, ignored: new Set(paths) }), checkHead, ...hostChecks(allowedHosts));
  app.get('/livez', (_req, res) => {
    res.json({ live: true });
  });
  app.get('/readyz', (_req, res) => {
    const readiness = isReady();
    if (!readiness.ready) res.status(503).setHeader('Retry-After', '1');
    res.json(readiness);
  });
  if (status !== null) {
    app.get('/statusz', async (_req, res) => {
      res.json(await status());
    });
  }
  app.get('/metrics', async (_req, res) => {
    res.setHeader('Content-Type', registry.contentType);
    res.send(await registry.metrics());
  });
  app.use((_req, res) => {
    res.status(404).json({ paths });
  });
  const failed: ErrorRequestHandler = (error, req, res, _next) => {
    if (error instanceof BatonError)
      return void res.status(error.status).json({ error: error.code, detail: error.message });
    logger.error({ req, err: error }, 'admin request failed');
    res.status(500).json({ error: 'internal' });
  };
  app.use(failed);
  return app;
}
