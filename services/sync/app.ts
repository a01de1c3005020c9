import { hostname } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import type { RateGroup } from '../../shared/contract/rates.ts';
import type { Config } from './config/config.ts';
import { makeClipboardModule } from './clipboard/module.ts';
import { makeDevices } from './devices/devices.ts';
import { makeDeviceHandlers } from './devices/routes.ts';
import { makeDeviceStore } from './devices/store.ts';
import { DueSweeper } from './due/due-sweeper.ts';
import { makeDueStore } from './due/store.ts';
import { makeAccountQueue } from './http/account-queue.ts';
import { makeAddressLimits } from './http/address-limit.ts';
import { makeDocumentHandlers } from './http/documents.ts';
import { openPorts } from './http/ports.ts';
import { makePublicApp } from './http/public-app.ts';
import { makeReplicaLimits } from './http/replica-limit.ts';
import { scaledLimit } from './http/rate-limit-headers.ts';
import { makeHealth } from './http/health.ts';
import { makeStreamHandlers } from './streams/routes.ts';
import { Hub } from './streams/hub.ts';
import { makeAccountSets } from './replicas/account-sets.ts';
import { makeLeaseStore } from './replicas/lease-store.ts';
import { Reaper } from './replicas/reaper.ts';
import { Replica } from './replicas/replica.ts';
import { makeSignalsModule } from './signals/module.ts';
import { makePresence } from './presence/module.ts';
import { makeHubStore } from './streams/store.ts';
import { makeIdentity } from './identity/choice.ts';
import { makeClientAddress } from './identity/client-address.ts';
import { makeKnownRows } from './identity/known-rows.ts';
import { makeIdentityHandlers } from './identity/routes.ts';
import { makeSameOrigin } from './identity/same-origin.ts';
import { makeMessages } from './messages/messages.ts';
import { makeMessageHandlers } from './messages/routes.ts';
import { makeMessageStore } from './messages/store.ts';
import { makePushModule } from './push/module.ts';
import { Bus } from './redis/bus.ts';
import { Store } from './redis/store.ts';
import { makeRelayModule, type RelayModule } from './relay/module.ts';
import { makeBrokerClient } from './sessions/broker-client.ts';
import { makeSessionsModule } from './sessions/module.ts';
import { makeShutdown } from './shutdown.ts';
import { makeSigninModule } from './signin/module.ts';
import { makeLogger } from './telemetry/logger.ts';
import { makeMetrics } from './telemetry/metrics.ts';
import { makePending } from './streams/pending.ts';
import { makeTransferHandlers } from './transfers/routes.ts';
import { makeTransferStore } from './transfers/store.ts';
import { makeTransfers } from './transfers/transfers.ts';
import { VERSION } from './version.ts';

/** The set of an id that this replica had is kept for so long after the grace of streams that closed as it left it. */
const FORGET_AFTER_GRACE_MS = 2_000;

export interface App {
  readonly port: number;
  readonly adminPort: number;
  /** Drains and stops; resolves when nothing is left. Repeated calls are one. */
  stop(): Promise<void>;
}

/** Builds one replica from its configuration and starts it: the only file that constructs and wires. */
export async function startApp(config: Config): Promise<App> {
  const metrics = makeMetrics({ version: VERSION });
  const logger = makeLogger({ level: config.logLevel, server: `${hostname()}:${config.http.port}` });
  for (const warning of config.warnings) logger.warn(warning);
  const shutdown = makeShutdown({ config, metrics, logger });
  const onFailure = (task: string, error: unknown): void => {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'internal';
    metrics.background_failures_total.inc({ task, code });
    logger[code === 'store_unavailable' ? 'debug' : 'error']({ err: error, task, code }, 'background task failed');
  };

  // The store, and this replica on its bus.
  const store = new Store({
    ...config.redis,
    logger,
    metrics,
    isDeadChannel: (channel) => replica.isDeadChannel(channel),
    onTopology: () => bus.recheck(),
    onPartLost: () => hub.attachAll('part lost'),
    onReconnect: () => {
      hub.attachAll('reconnect');
      replica.beatAgain();
    },
  });
  const { redis, keys, scripts, confirm } = store;
  const leases = makeLeaseStore({ redis, scripts: store.probes, keys, publish: store.publish });
  const accounts = makeAccountSets({ redis, scripts: store.probes, keys });
  const bus = new Bus({
    open: store.subscriber,
    listener: {
      event: (e) => {
        relay.relay.eventPasses(e.name);
        hub.event(e);
      },
      unlogged: (u, name, to, data) => hub.unlogged(u, name, to, data),
      presence: (u, v) => hub.presence(u, v),
      superseded: (u, s) => hub.superseded(u, s),
      relay: (file) => relay.requests.notified(file),
      revoked: (...revocation) => revocations.heard(...revocation),
      login: (pollId, word) => signin.wake(pollId, word),
    },
    onGap: (cause) => hub.attachAll(cause),
    onFailure,
  });
  const replica = new Replica({
    leases,
    bus,
    keys,
    onNewId: (oldId, cause) => {
      hub.attachAll(cause);
      // Only then is nobody left for whom a reaper would have to look there: not those either who have just left.
      const settled = hub.sweeper
        .allAttached()
        .then(() => delay(graceMs + FORGET_AFTER_GRACE_MS, undefined, { ref: false }));
      const forget = settled.then(() => accounts.forget(oldId));
      forget.catch((error: unknown) => onFailure('forget accounts', error));
    },
    onRevocations: (version, nowMs) => revocations.note(version, nowMs),
    onBeat: (ok, error) => {
      const changed = store.note(ok, error);
      if (changed && ok) hub.attachAll('store');
      if (changed && !ok) hub.degrade();
      if (!ok) return;
      accounts.addPending(replica.id);
      reaper.run();
    },
    onClockSet: () => hub.attachAll('clock'),
    onSilentSubscriber: () => {
      metrics.bus_rebuilds_total.inc();
      bus.rebuild();
    },
    isUp: () => store.isUp,
  });

  // The rooms.
  const limitOf = (group: RateGroup) => scaledLimit(group, config.http.rateLimitScale);
  const dueStore = makeDueStore({ redis, scripts, keys });
  const push = makePushModule({
    ...{ db: { redis, scripts, keys }, settings: config.push, limitOf, metrics, onFailure },
    transferSeconds: config.transfers.redeliverySeconds,
    deadChannels: replica.deadChannels,
    scheduleDue: dueStore.schedule,
  });
  const { offlineGraceMs: graceMs } = config.hub;
  const presence = makePresence({ db: { scripts, keys }, graceMs, replica, metrics });
  const deviceStore = makeDeviceStore({
    redis,
    scripts,
    keys,
    renameLimit: limitOf('rename'),
    readPresence: presence.read,
    pushQueue: push.queue,
  });
  const devices = makeDevices(deviceStore);
  const messages = makeMessages({
    store: makeMessageStore({ scripts, keys, confirm, replica, rateLimit: limitOf('message'), pushQueue: push.queue }),
    ...{ isDeadChannel: replica.isDeadChannel, onAccepted: () => metrics.messages_total.inc() },
  });
  const clipboard = makeClipboardModule({
    ...{ db: { redis, scripts, keys }, ttlMs: config.clipboard.ttlSeconds * 1000, rateLimit: limitOf('clipboard') },
    ...{ scheduleDue: dueStore.schedule, onWritten: () => metrics.clipboard_writes_total.inc() },
  });
  const transfers = makeTransfers({
    store: makeTransferStore({
      ...{ redis, scripts, keys, rateLimit: limitOf('transfer'), replica },
      redeliveryMs: config.transfers.redeliverySeconds * 1000,
      ...{ scheduleDue: dueStore.schedule, pushQueue: push.queue },
    }),
    isDeadChannel: replica.isDeadChannel,
    onState: (state) => metrics.transfers_total.inc({ state }),
    dropRelayed: (account, id, generations) => relay.relay.drop(account, id, generations),
    relayOffsets: (id, generations) => relay.relay.offsets(id, generations),
    onFailure,
  });
  const relay: RelayModule = makeRelayModule({
    ...{ db: { scripts, keys }, settings: config.relay, transfers, logger, metrics, onFailure },
    reachability: store.reachability,
    idleMs: config.transfers.redeliverySeconds * 1000,
    bus: { channel: () => replica.channel, publish: store.publish },
  });
  const signals = makeSignalsModule({
    db: { scripts, keys },
    ice: config.ice,
    rateLimit: limitOf('signal'),
    replica,
  });
  const broker = config.broker && makeBrokerClient({ ...config.broker, metrics, onEnded: (s) => sessions.ended(s) });
  const believesCallers = config.identity.mode === 'dev';
  const signinSettings = { ...config.signin, publicUrl: config.http.publicUrl, believesCallers };
  const sessions = makeSessionsModule({
    db: { redis, scripts, keys },
    broker,
    devices,
    settings: signinSettings,
    bus: { channels: () => replica.detector.channels(), publish: store.publish },
    onRevoked(account, deviceId, reason, sessionId) {
      identity.forget(account, deviceId, reason, sessionId);
      hub.endRevoked(account, deviceId, reason, sessionId);
      relay.requests.endDevice(account, deviceId);
    },
    onRemoved: [transfers.cancelAllOf, push.dropDevice],
    ...{ eraseTransfers: transfers.eraseAll, onErased: [push.dropAccount] },
    onShown: (device) => signin.use(device),
    scheduleDue: dueStore.schedule,
    onFailure,
  });
  const { revocations } = sessions;
  const isRevoked = (account: string, deviceId: string) => revocations.isRevoked(account, deviceId);
  const clientAddress = makeClientAddress({ trustedProxies: config.http.trustedProxies });
  const signin = makeSigninModule({
    db: { scripts, keys },
    broker,
    sessions,
    settings: signinSettings,
    bus: { channel: () => replica.channel, publish: store.publish },
    isForeign: devices.isForeign,
    clientAddress,
    metrics,
    onFailure,
  });
  const identity = makeIdentity({
    ...{ config, isRevoked, clientAddress, verify: broker && broker.verify, db: { redis, scripts, keys } },
    ensureRow: devices.ensureRow,
    restoreRow: sessions.rows.restore,
    onFailure,
  });
  const dueSweeper = new DueSweeper({
    store: dueStore,
    handlers: {
      clipboard: clipboard.expire,
      transfer: transfers.expire,
      revoke: sessions.removal.resume,
      session: sessions.rows.expire,
      claim: signin.checkClaim,
      push: push.resume,
    },
    repairMs: config.due.repairSeconds * 1000,
    isUp: () => store.isUp,
    onRun: (kind, outcome) => metrics.due_run_total.inc({ kind, outcome }),
    onReindexed: (count) => metrics.due_reindexed_total.inc(count),
    onFailure,
  });

  // The hub.
  const hubStore = makeHubStore({ scripts, keys, graceMs, replica, publish: store.publish, metrics });
  const hub = new Hub({
    store: hubStore,
    reconcileAccount: presence.reconcile,
    accounts,
    replica,
    modules: {
      readPresence: presence.snapshot,
      pending: makePending({ messages, transfers }),
      restoreRow: identity.restoreRow,
      isRevoked,
      // The index lies in another slot, and a stream must not wait for it: the next sweep notes it again.
      scheduleDue: (account, inMs) =>
        dueStore.remind(account, inMs).catch((error: unknown) => onFailure('note due', error)),
    },
    metrics,
    timing: {
      sweepMs: config.hub.sweepSeconds * 1000,
      rotateMs: config.hub.rotateSeconds * 1000,
      graceMs,
      heartbeatMs: config.hub.heartbeatMs,
    },
    maxStreams: config.hub.maxStreams,
    isUp: () => store.isUp,
    onFailure,
  });
  const reaper = new Reaper({
    ...{ replica, leases, accounts, reconcile: presence.reconcile },
    onReaped: (cause) => metrics.nodes_reaped_total.inc({ cause }),
    onFailure: (error) => onFailure('reap', error),
  });

  // Both ports.
  const app = makePublicApp({
    allowedHosts: config.http.allowedHosts,
    handlers: {
      ...makeIdentityHandlers({
        ownDevice: devices.own,
        clipboardSeconds: config.clipboard.ttlSeconds,
        relayWindowBytes: config.relay.windowBytes,
        features: { qr: config.signin.qrEnabled && broker !== null, ...push.features },
      }),
      ...sessions.handlers,
      ...signin.handlers,
      ...makeDeviceHandlers(devices),
      ...presence.handlers,
      ...makeStreamHandlers(hub),
      ...makeMessageHandlers(messages),
      ...clipboard.handlers,
      ...makeTransferHandlers(transfers),
      ...relay.handlers,
      ...push.handlers,
      ...signals.handlers,
      ...makeDocumentHandlers({
        health: () => (shutdown.isDraining() ? 'draining' : store.wasSeen ? 'ok' : 'store_unavailable'),
      }),
    },
    identity,
    isRevoked,
    onCaller: signin.use,
    requireRow: makeKnownRows({ hasRow: devices.hasRow, restoreRow: identity.restoreRow }),
    disabled: new Set([...signin.disabledRoutes, ...push.disabledRoutes]),
    sameOrigin: makeSameOrigin({ publicUrl: config.http.publicUrl }),
    addressLimits: makeAddressLimits({
      sendCommand: (command, ...args) => redis.call(command, ...args) as Promise<string>,
      ...{ prefixOf: keys.addressRatePrefix, clientAddress, scale: config.http.rateLimitScale, logger },
    }),
    replicaLimits: makeReplicaLimits({ scale: config.http.rateLimitScale }),
    accountQueue: makeAccountQueue(),
    logger,
    metrics,
  });

  const admin = makeHealth({
    ...{ config, store, relayStore: relay.bulk, broker, hub, replica, bus, metrics, logger },
    isDraining: shutdown.isDraining,
    drainLimitMs: shutdown.limitMs,
  });

  const ports = await openPorts({ config, app, admin, logger, metrics });
  store.connect();
  relay.bulk.connect();
  const started = replica.startWhenItCan(shutdown.isStopping);
  for (const part of [identity, hub, dueSweeper]) part.start();
  return {
    port: ports.publicServer.port,
    adminPort: ports.adminServer.port,
    stop: () =>
      shutdown.end({
        ...{ signin, hub, relay, identity, bus, started, replica, store, broker },
        workers: [transfers, dueSweeper, push, reaper],
        ports,
      }),
  };
}
