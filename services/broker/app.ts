import { hostname } from 'node:os';
import type { Express } from 'express';
import type { Logger } from 'pino';
import { BROKER_LIMITS } from '../../shared/contract/modules/broker.ts';
import { BatonError } from '../../shared/contract/errors.ts';
import { makeExpress } from '../../shared/service-kit/http/express-app.ts';
import { checkHead } from '../../shared/service-kit/http/head-check.ts';
import { hostChecks } from '../../shared/service-kit/http/host-check.ts';
import { makeProblemHandler } from '../../shared/service-kit/http/problem.ts';
import { requestId } from '../../shared/service-kit/http/request-context.ts';
import { logRequests } from '../../shared/service-kit/http/request-log.ts';
import { addressText } from '../../shared/service-kit/http/server.ts';
import { close, connectCommands, type Redis } from '../../shared/service-kit/redis/connections.ts';
import { Reachability } from '../../shared/service-kit/redis/reachability.ts';
import { ServerCheck } from '../../shared/service-kit/redis/server-check.ts';
import { makeLogger } from '../../shared/service-kit/telemetry/logger.ts';
import { parseTrustedRoots } from '../../shared/service-kit/trusted-roots.ts';
import { VERSION } from '../../shared/service-kit/version.ts';
import type { BrokerConfig } from './config/config.ts';
import { makeForwardAuth } from './edge/routes.ts';
import { mountApi } from './http/api.ts';
import { countRequests } from './http/count-requests.ts';
import { makeSecurityHeaders, versionAndNoStore } from './http/headers.ts';
import { loginForm } from './http/login-form.ts';
import { openPorts } from './http/ports.ts';
import { makeServiceAuth } from './http/service-auth.ts';
import { Keyring } from './keyring/keyring.ts';
import { makeKeySetHandler } from './keyring/routes.ts';
import { makeKeyringStore } from './keyring/store.ts';
import { makeAttempts } from './login/attempt.ts';
import { makeProvider } from './login/provider.ts';
import { makeReturnTo } from './login/return-to.ts';
import { makeDevLogin, makeProviderLogin } from './login/routes.ts';
import { makeKeys } from './redis/keys.ts';
import { makeScriptLoader } from '../../shared/service-kit/redis/scripts/scripts.ts';
import { cookieForm } from './sessions/credentials/cookie.ts';
import { makeSessionList } from './sessions/list.ts';
import { makeSessionHandlers } from './sessions/routes.ts';
import { makeSessions } from './sessions/sessions.ts';
import { makeSessionStore } from './sessions/store.ts';
import { makeTokens } from './sessions/credentials/tokens.ts';
import { makeMetrics, type Metrics } from './telemetry/metrics.ts';

/**
 * The longest time for which a key set may be cached. The time in force is never more than half of the time for which a
 * key is published before it signs.
 */
const KEY_SET_SECONDS = 300;

export interface BrokerApp {
  readonly logger: Logger;
  readonly port: number;
  readonly adminPort: number;
  /** Goes on for the notice, finishes what is running and stops. Resolves when all has ended. Calls share one stop. */
  stop(): Promise<void>;
}

/** Opens the store, and the keys that are kept there. */
function openStore({ redis: { address, keyPrefix }, keyring: settings }: BrokerConfig, logger: Logger) {
  const reachability = new Reachability({ store: 'broker', address, logger });
  const redis = connectCommands({
    address,
    name: 'baton:broker',
    onError: (error) => {
      logger.debug({ err: error }, 'redis connection error');
      reachability.failed('commands', error);
    },
    onWell: () => reachability.worked('commands'),
    // The cast holds for a cluster too: besides scripts, the broker sends only commands with one key.
  }) as Redis;
  const servers = new ServerCheck({
    store: 'broker',
    connection: redis,
    address,
    logger,
    keeps: true,
    announces: false,
  });
  const keys = makeKeys(keyPrefix);
  const scripts = makeScriptLoader({ connection: redis, announcing: null });
  const keyring = new Keyring({
    store: makeKeyringStore({ redis, scripts, keys }),
    secrets: settings.secrets,
    keyMs: settings.keySeconds * 1000,
    overlapMs: settings.overlapSeconds * 1000,
    logger,
    onChecked: (ok, error) => {
      if (!ok) return reachability.commandFailed(error);
      reachability.commandWorked();
      servers.run().catch((failure: unknown) => logger.debug({ err: failure }, 'the store could not be looked at'));
    },
  });
  return { db: { redis, scripts, keys }, keyring, isStoreUp: () => keyring.isReady && reachability.reason === null };
}

type Opened = ReturnType<typeof openStore>;

/** Makes sessions and their tokens. */
function makeModules(
  { publicUrl, sessions: { graceSeconds, refusedSubjects } }: BrokerConfig,
  { db, keyring }: Opened,
) {
  const { name: cookieName } = cookieForm(publicUrl);
  const tokens = makeTokens({ keyring, issuer: publicUrl });
  const store = makeSessionStore({
    ...db,
    graceMs: graceSeconds * 1000,
    replaySeconds: BROKER_LIMITS.mintReplaySeconds,
  });
  const sessions = makeSessions({ store, keyring, tokens, cookieName, refusedSubjects });
  return { sessions, list: makeSessionList({ store }), tokens, cookieName };
}

type Modules = ReturnType<typeof makeModules>;

/** Mounts the login that the configuration chose, or its refusal. */
function mountLogin(
  app: Express,
  config: BrokerConfig,
  keyring: Keyring,
  sessions: Modules['sessions'],
  logger: Logger,
) {
  const { publicUrl } = config;
  const { dev, oidc, returnOrigins, app: loginApp } = config.login;
  const login = { sessions, app: loginApp, publicUrl, returnTo: makeReturnTo({ publicUrl, returnOrigins }), logger };
  if (dev) {
    const { begin, finish } = makeDevLogin(login);
    app.get('/login', begin).post('/login/dev', loginForm, finish);
    return;
  }
  if (oidc === null) {
    app.get('/login', () => {
      throw new BatonError('feature_disabled', 'This broker has no login: see BROKER_OIDC_ISSUER');
    });
    return;
  }
  const provider = makeProvider({
    oidc,
    callbackUrl: `${publicUrl}/login/callback`,
    onUserInfoFailure: (error) => logger.warn({ err: error }, 'the provider did not tell a name'),
  });
  const attempts = makeAttempts({ keyring, publicUrl });
  const { begin, finish } = makeProviderLogin({ ...login, provider, attempts, rolesClaim: oidc.rolesClaim });
  app.get('/login', begin).get('/login/callback', finish);
}

interface AppParts {
  config: BrokerConfig;
  keyring: Keyring;
  modules: Modules;
  isDraining: () => boolean;
  metrics: Metrics;
  logger: Logger;
}

/** Makes the app of the public port, in the order in which a request passes it. */
function makeApp({ config, keyring, modules, isDraining, metrics, logger }: AppParts): Express {
  const { sessions, list, tokens, cookieName } = modules;
  const { returnOrigins } = config.login;
  const app = makeExpress();
  const checks = hostChecks(config.http.allowedHosts);
  app.use(
    requestId,
    versionAndNoStore,
    makeSecurityHeaders({ returnOrigins }),
    logRequests({ logger }),
    countRequests(metrics),
    checkHead,
    ...checks,
  );
  mountApi(app, makeSessionHandlers({ sessions, list }), makeServiceAuth({ tokens: config.tokens }));
  // Envoy keeps the method of the request and appends its path to this one.
  app.all(
    ['/forward-auth', '/forward-auth/*path'],
    makeForwardAuth({ app: config.forwardAuth.app, sessions, tokens, cookieName }),
  );
  mountLogin(app, config, keyring, sessions, logger);
  const maxAgeSeconds = Math.floor(Math.min(KEY_SET_SECONDS, config.keyring.overlapSeconds / 2));
  app.get('/.well-known/jwks.json', makeKeySetHandler({ keyring, maxAgeSeconds }));
  app.get('/healthz', (_req, res) => {
    if (isDraining()) throw new BatonError('draining');
    if (!keyring.isReady) throw new BatonError('store_unavailable');
    res.json({ status: 'ok' });
  });
  app.use(() => {
    throw new BatonError('not_found', 'Nothing is served here');
  });
  app.use(makeProblemHandler({ logger }));
  return app;
}

/** Builds the broker from its configuration and starts it: the only file that constructs and wires. */
export async function startBroker(config: BrokerConfig): Promise<BrokerApp> {
  const { http, login, publicUrl } = config;
  const logger = makeLogger({ level: config.logLevel, server: `broker:${hostname()}:${http.port}` });
  for (const warning of config.warnings) logger.warn(warning);
  let stopping: Promise<void> | null = null;
  const isDraining = () => stopping !== null;
  const opened = openStore(config, logger);
  const { keyring, db, isStoreUp } = opened;
  const isReady = () => keyring.isReady && !isDraining();
  const metrics = makeMetrics({ version: VERSION, isReady, isStoreUp });
  const app = makeApp({ config, keyring, modules: makeModules(config, opened), isDraining, metrics, logger });
  const reasons = () => [
    ...(keyring.isReady ? [] : ['no key was read from the store yet']),
    ...(isDraining() ? ['draining'] : []),
  ];

  parseTrustedRoots();
  const ports = await openPorts({ config, app, reasons, metrics, logger });
  logger.info(
    {
      listens: addressText(http.host, ports.port),
      admin: addressText(http.host, ports.adminPort),
      publicUrl,
      login: login.dev ? 'dev' : login.oidc === null ? 'none' : 'oidc',
      redis: config.redis.address.mode,
      version: VERSION,
    },
    'listening',
  );
  // If the first try fails, the client goes on by itself, and the keyring notices when it has succeeded.
  db.redis
    .connect()
    .then(() => keyring.refresh())
    .catch(() => undefined);
  keyring.start();

  const stop = async (): Promise<void> => {
    logger.info({ noticeSeconds: config.noticeMs / 1000 }, 'draining');
    await ports.drain();
    await keyring.stop();
    close(db.redis);
    await ports.closeAdmin();
    logger.info('stopped');
  };
  return {
    logger,
    port: ports.port,
    adminPort: ports.adminPort,
    stop: () => {
      stopping ??= stop();
      return stopping;
    },
  };
}
