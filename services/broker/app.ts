import { hostname } from 'node:os';
import { BROKER_LIMITS } from '../../shared/contract/broker.ts';
import { BatonError } from '../../shared/contract/errors.ts';
import { makeExpress } from '../sync/http/express-app.ts';
import { hostChecks } from '../sync/http/host-check.ts';
import { makeProblemHandler } from '../sync/http/problem.ts';
import { requestId } from '../sync/http/request-context.ts';
import { makeRequestLog } from '../sync/http/request-log.ts';
import { addressText, startServer } from '../sync/http/server.ts';
import { close, connectCommands, type Redis } from '../sync/redis/connections.ts';
import { Reachability } from '../sync/redis/reachability.ts';
import { ServerCheck } from '../sync/redis/server-check.ts';
import { makeLogger } from '../sync/telemetry/logger.ts';
import { makeMetrics } from '../sync/telemetry/metrics.ts';
import { VERSION } from '../sync/version.ts';
import type { BrokerConfig } from './config/config.ts';
import { makeForwardAuth } from './edge/routes.ts';
import { mountApi } from './http/api.ts';
import { makeSecurityHeaders, noStore } from './http/headers.ts';
import { loginForm } from './http/login-form.ts';
import { makeServiceAuth } from './http/service-auth.ts';
import { Keyring } from './keyring/keyring.ts';
import { makeKeySetHandler } from './keyring/routes.ts';
import { makeKeyringStore } from './keyring/store.ts';
import { makeAttempts } from './login/attempt.ts';
import { makeProvider } from './login/provider.ts';
import { makeReturnTo } from './login/return-to.ts';
import { makeDevLogin, makeProviderLogin } from './login/routes.ts';
import { makeKeys } from './redis/keys.ts';
import { makeScriptLoader } from '../sync/redis/scripts.ts';
import { cookieForm } from './sessions/cookie.ts';
import { makeSessionList } from './sessions/list.ts';
import { makeSessionHandlers } from './sessions/routes.ts';
import { makeSessions } from './sessions/sessions.ts';
import { makeSessionStore } from './sessions/store.ts';
import { makeTokens } from './sessions/tokens.ts';

/** Requests that are running when the process is asked to stop may take this long. */
const FINISH_MS = 5_000;
/** A key set may be kept this long, and never longer than half of the time that a key is published before it signs. */
const KEY_SET_SECONDS = 300;

export interface BrokerApp {
  readonly port: number;
  /** Finishes what is running and stops; resolves when nothing is left. Repeated calls are one. */
  stop(): Promise<void>;
}

/** Builds the broker from its configuration and starts it: the only file that constructs and wires. */
export async function startBroker(config: BrokerConfig): Promise<BrokerApp> {
  const { publicUrl } = config;
  const logger = makeLogger({ level: config.logLevel, server: `broker:${hostname()}:${config.http.port}` });
  for (const warning of config.warnings) logger.warn(warning);
  const metrics = makeMetrics({ version: VERSION });

  // The store, and the keys that are kept there.
  const { address } = config.redis;
  const reachability = new Reachability({ store: 'broker', address, logger });
  const redis = connectCommands({
    address,
    name: 'baton:broker',
    onError: (error) => {
      logger.debug({ err: error }, 'redis connection error');
      reachability.failed('commands', error);
    },
    onWell: () => reachability.worked('commands'),
    // Also a cluster has the commands of one server: beside scripts, all that is asked has one key.
  }) as Redis;
  const servers = new ServerCheck({
    ...{ store: 'broker', connection: redis, address, logger, keeps: true, announces: false },
  });
  const keys = makeKeys(config.redis.keyPrefix);
  const scripts = makeScriptLoader({ connection: redis, family: 'broker', announcing: null });
  const { secrets, keySeconds, overlapSeconds } = config.keyring;
  const keyring = new Keyring({
    store: makeKeyringStore({ redis, scripts, keys }),
    secrets,
    keyMs: keySeconds * 1000,
    overlapMs: overlapSeconds * 1000,
    logger,
    onChecked: (ok, error) => {
      if (!ok) return reachability.commandFailed(error);
      reachability.commandWorked();
      servers.run().catch((failure: unknown) => logger.debug({ err: failure }, 'the store could not be looked at'));
    },
  });

  // The modules.
  const { name: cookieName } = cookieForm(publicUrl);
  const tokens = makeTokens({ keyring, issuer: publicUrl });
  const sessionStore = makeSessionStore({
    redis,
    scripts,
    keys,
    graceMs: config.sessions.graceSeconds * 1000,
    replaySeconds: BROKER_LIMITS.mintReplaySeconds,
  });
  const { refusedSubjects } = config.sessions;
  const sessions = makeSessions({ store: sessionStore, keyring, tokens, cookieName, refusedSubjects });
  const { dev, oidc, returnOrigins, app: loginApp } = config.login;
  const login = { sessions, app: loginApp, publicUrl, returnTo: makeReturnTo({ publicUrl, returnOrigins }), logger };

  // The port, in the order in which a request meets it.
  let draining = false;
  const app = makeExpress();
  const checks = hostChecks(config.http.allowedHosts);
  app.use(requestId, noStore, makeSecurityHeaders({ returnOrigins }), makeRequestLog({ logger }), ...checks);
  const handlers = makeSessionHandlers({ sessions, list: makeSessionList({ store: sessionStore }) });
  mountApi(app, handlers, makeServiceAuth({ tokens: config.tokens }));
  // Envoy keeps the method of the request and puts its path behind this one.
  app.all(
    ['/forward-auth', '/forward-auth/*path'],
    makeForwardAuth({ app: config.forwardAuth.app, sessions, tokens, cookieName }),
  );
  if (dev) {
    const { begin, finish } = makeDevLogin(login);
    app.get('/login', begin).post('/login/dev', loginForm, finish);
  } else if (oidc !== null) {
    const provider = makeProvider({
      oidc,
      callbackUrl: `${publicUrl}/login/callback`,
      onUserInfoFailure: (error) => logger.warn({ err: error }, 'the provider did not tell a name'),
    });
    const attempts = makeAttempts({ keyring, publicUrl });
    const { begin, finish } = makeProviderLogin({ ...login, provider, attempts, rolesClaim: oidc.rolesClaim });
    app.get('/login', begin).get('/login/callback', finish);
  } else {
    app.get('/login', () => {
      throw new BatonError('feature_disabled', 'This broker has no login: see BROKER_OIDC_ISSUER');
    });
  }
  const maxAgeSeconds = Math.floor(Math.min(KEY_SET_SECONDS, overlapSeconds / 2));
  app.get('/.well-known/jwks.json', makeKeySetHandler({ keyring, maxAgeSeconds }));
  app.get('/healthz', (_req, res) => {
    if (draining) throw new BatonError('draining');
    if (!keyring.isReady) throw new BatonError('store_unavailable');
    res.json({ status: 'ok' });
  });
  app.use(() => {
    throw new BatonError('not_found', 'Nothing is served here');
  });
  app.use(makeProblemHandler({ logger, metrics }));

  const server = await startServer({ app, ...config.http });
  logger.info(
    {
      listens: addressText(config.http.host, server.port),
      publicUrl,
      login: dev ? 'dev' : oidc === null ? 'none' : 'oidc',
      redis: address.mode,
      version: VERSION,
    },
    'listening',
  );
  // The client goes on trying by itself; the keyring tells when it has succeeded.
  redis.connect().catch(() => undefined);
  keyring.start();

  const stop = async (): Promise<void> => {
    draining = true;
    await server.close(FINISH_MS);
    await keyring.stop();
    close(redis);
    logger.info('stopped');
  };
  let stopping: Promise<void> | null = null;
  return {
    port: server.port,
    stop: () => {
      stopping ??= stop();
      return stopping;
    },
  };
}
