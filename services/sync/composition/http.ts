import type { Login } from '../http/documents/app-files.ts';
import { sendUntilAnswered } from '../../../shared/service-kit/redis/resend.ts';
import { makeDocumentHandlers } from '../http/documents/documents.ts';
import { makeAccountQueue } from '../http/limits/account-queue.ts';
import { makeAddressLimits } from '../http/limits/address-limit.ts';
import { makeReplicaLimits } from '../http/limits/replica-limit.ts';
import { openPorts } from '../http/ports.ts';
import { makePublicApp } from '../http/public-app.ts';
import { makeKnownRows } from '../identity/known-rows.ts';
import { makeIdentityHandlers } from '../identity/routes.ts';
import { makeSameOrigin } from '../identity/same-origin.ts';
import { storeFault } from '../../../shared/service-kit/redis/faults.ts';
import { runningWhenFull } from '../../../shared/service-kit/redis/scripts/script-text.ts';
import { makeStoreFault } from '../sessions/auth-broker/store-fault.ts';
import { makeStreamHandlers } from '../streams/routes.ts';
import { sendAway } from '../streams/opening/send-away.ts';
import type { Accounts } from './accounts.ts';
import { makeHealth } from './health.ts';
import type { Modules } from './modules.ts';
import type { Host } from './host.ts';
import type { StoreAndBus } from './store-and-bus.ts';
import type { Streams } from './streams.ts';

interface HttpParts {
  host: Host;
  storeAndBus: StoreAndBus;
  modules: Modules;
  accounts: Accounts;
  streams: Streams;
  isDraining: () => boolean;
}

/** Returns how a browser signs in here, so that a page knows it before its first request. */
function loginOf({ identity, signin }: Host['config']): Login {
  if (identity.mode === 'dev') return 'development';
  return signin.loginUrl === null ? 'none' : 'broker';
}

function handlersOf({ host: { config }, storeAndBus: { store }, modules, accounts, streams, isDraining }: HttpParts) {
  const { push, devices } = modules;
  return {
    ...makeIdentityHandlers({
      ownDevice: devices.own,
      service: config.http.serviceId,
      origins: config.http.origins,
      clipboardSeconds: config.clipboard.ttlSeconds,
      relayWindowBytes: config.relay.windowBytes,
      features: {
        qr: config.signin.qrEnabled && accounts.broker !== null,
        ...push.features,
        sealed: true,
        ...(config.relay.isPreferred && { relay_preferred: true }),
      },
    }),
    ...accounts.sessions.handlers,
    ...accounts.signin.handlers,
    ...modules.deviceHandlers,
    ...modules.presence.handlers,
    ...makeStreamHandlers(streams.hub.opening),
    ...modules.messages.handlers,
    ...modules.clipboard.handlers,
    ...modules.keyring.handlers,
    ...modules.transferHandlers,
    ...modules.relay.handlers,
    ...push.handlers,
    ...modules.signals.handlers,
    ...makeDocumentHandlers({
      login: loginOf(config),
      health: () => (isDraining() ? 'draining' : store.wasSeen ? 'ok' : 'store_unavailable'),
    }),
  };
}

export function openHttp(parts: HttpParts) {
  const { config, logger, metrics } = parts.host;
  const { store, db, bus, replica, watches } = parts.storeAndBus;
  const { devices, push, relay } = parts.modules;
  const { identity, isRevoked, signin, clientAddress, broker } = parts.accounts;
  const { hub } = parts.streams;
  const { redis, keys } = db;
  const app = makePublicApp({
    allowedHosts: config.http.allowedHosts,
    corsOrigins: config.http.corsOrigins,
    faultOf: makeStoreFault({ isStoreUp: () => store.isUp }),
    handlers: handlersOf(parts),
    identity,
    isRevoked,
    onCaller: signin.use,
    requireRow: makeKnownRows({ hasRow: devices.hasRow, restoreRow: identity.restoreRow }),
    disabled: new Set([...signin.disabledRoutes, ...push.disabledRoutes]),
    sameOrigin: makeSameOrigin(config.http),
    addressLimits: makeAddressLimits({
      // A lost connection makes it count twice at worst.
      sendCommand: (command, ...args) =>
        sendUntilAnswered(redis, () => redis.call(command, ...args) as Promise<string>),
      textOf: runningWhenFull,
      faultOf: storeFault,
      prefixOf: keys.addressRatePrefix,
      clientAddress,
      scale: config.http.rateLimitScale,
      logger,
    }),
    replicaLimits: makeReplicaLimits({ scale: config.http.rateLimitScale }),
    accountQueue: makeAccountQueue(),
    sendAway,
    logger,
    metrics,
  });
  const admin = makeHealth({
    config,
    store,
    relayStore: relay.bulk,
    broker,
    hub,
    replica,
    watches,
    bus,
    metrics,
    logger,
    isDraining: parts.isDraining,
  });
  return openPorts({ config, app, admin, logger, metrics });
}
