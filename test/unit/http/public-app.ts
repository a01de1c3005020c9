import type { RequestHandler } from 'express';
import { type AccountQueue, makeAccountQueue } from '../../../services/sync/http/limits/account-queue.ts';
import { makeAppFiles } from '../../../services/sync/http/documents/app-files.ts';
import { makeDocumentHandlers } from '../../../services/sync/http/documents/documents.ts';
import type { Handler, Handlers } from '../../../services/sync/http/handler.ts';
import { makePublicApp } from '../../../services/sync/http/public-app.ts';
import type { RouterDeps } from '../../../services/sync/http/router.ts';
import { makeReplicaLimits } from '../../../services/sync/http/limits/replica-limit.ts';
import { makeDevIdentity } from '../../../services/sync/identity/modes/dev.ts';
import { makeReferenceFiles } from '../../../services/sync/http/documents/reference/files.ts';
import type { Identity } from '../../../services/sync/identity/identity.ts';
import { makeSameOrigin } from '../../../services/sync/identity/same-origin.ts';
import { makeLogger } from '../../../shared/service-kit/telemetry/logger.ts';
import { sendAway } from '../../../services/sync/streams/opening/send-away.ts';
import { makeMetrics } from '../../../services/sync/telemetry/metrics.ts';
import type { Route } from '../../../shared/contract/vocabulary/route.ts';
import { ROUTES } from '../../../shared/contract/routes.ts';

/** The pages of the build. The tests run beside their sources. */
const BUILT_FILES = new URL('../../../dist/reference/', import.meta.url);
const BUILT_APP = new URL('../../../dist/web/', import.meta.url);

export const PUBLIC_URL = 'https://baton.example';

/** Headers of a development caller with a device. */
export const ALICE = { 'X-Dev-User': 'alice', 'X-Dev-Device': 'laptop-01' };

interface Parts {
  handlers?: Partial<Handlers>;
  identity?: Identity;
  auth?: RequestHandler;
  accountQueue?: AccountQueue;
  /** `APP_RATE_LIMIT_SCALE`; 0, the default, is off. */
  rateScale?: number;
  corsOrigins?: readonly string[];
  requireRow?: RouterDeps['requireRow'];
  health?: 'ok' | 'draining' | 'store_unavailable';
}

const streams: Handler<Route> = ({ res }) => {
  res.writeHead(200, { 'Content-Type': 'text/event-stream' });
  res.end(': open\n\n');
  return null;
};

/** Makes handlers that answer each route's success status with an empty body, unless a test says otherwise. */
function handlersWith({ handlers, health = 'ok' }: Parts): Handlers {
  const stubs = Object.entries<Route>(ROUTES).map(([name, route]): [string, Handler<Route>] => [
    name,
    () => ({ status: Number(Object.keys(route.answers)[0]) }),
  ]);
  const documents = makeDocumentHandlers({
    health: () => health,
    files: makeReferenceFiles(BUILT_FILES),
    app: makeAppFiles({ login: 'development', folder: BUILT_APP }),
  });
  return { ...Object.fromEntries(stubs), openStream: streams, ...documents, ...handlers } as unknown as Handlers;
}

/** Makes the public port as the replica builds it, with stubs for modules, and records what it logged and counted. */
export function publicApp(parts: Parts = {}) {
  const lines: Record<string, unknown>[] = [];
  const logger = makeLogger(
    { level: 'debug', server: 'test' },
    { write: (line: string) => void lines.push(JSON.parse(line) as Record<string, unknown>) },
  );
  const metrics = makeMetrics({ version: 'test' });
  const pass: RequestHandler = (_req, _res, next) => next();
  const { corsOrigins = [] } = parts;
  const app = makePublicApp({
    corsOrigins,
    handlers: handlersWith(parts),
    identity: parts.identity ?? makeDevIdentity({ ensureRow: () => Promise.resolve(), isRevoked: () => false }),
    sameOrigin: makeSameOrigin({ publicUrl: PUBLIC_URL, corsOrigins }),
    addressLimits: { auth: parts.auth ?? pass, device_session: pass, qr_start: pass },
    replicaLimits: makeReplicaLimits({ scale: parts.rateScale ?? 0 }),
    accountQueue: parts.accountQueue ?? makeAccountQueue(),
    sendAway,
    isRevoked: () => false,
    onCaller: () => undefined,
    requireRow: parts.requireRow ?? (() => Promise.resolve()),
    disabled: new Set(),
    logger,
    metrics,
  });
  /** Returns the value of a counter under these labels; 0 before it was counted. */
  const counted = async (name: string, labels: Record<string, string>): Promise<number> => {
    const values = (await metrics.registry.getSingleMetric(name)?.get())?.values ?? [];
    const hit = values.find((value) => Object.entries(labels).every(([label, text]) => value.labels[label] === text));
    return hit?.value ?? 0;
  };
  /** Returns the beginnings of the routes whose answers were timed. */
  const timed = async (): Promise<unknown[]> => {
    const { values } = await metrics.http_request_duration_seconds.get();
    return [...new Set(values.map(({ labels }) => labels.prefix))];
  };
  return { app, lines, counted, timed };
}
