import { setTimeout as delay } from 'node:timers/promises';
import type { Accounts } from './accounts.ts';
import type { Modules } from './modules.ts';
import type { Host } from './host.ts';
import type { StoreAndBus } from './store-and-bus.ts';
import type { Streams } from './streams.ts';

/** How long the account set of a former id of this replica is kept after the grace of the last streams under that id. */
const FORGET_AFTER_GRACE_MS = 2_000;

/** Connects the store, the bus and the lease to the streams and modules, which are made after them. */
function connectReplica(
  { config, onFailure }: Host,
  { store, bus, accountSets, replica, replicaListener }: StoreAndBus,
  { relay }: Modules,
  { sessions, signin }: Accounts,
  { hub, reaper }: Streams,
): void {
  const { revocations } = sessions;
  const { delivery } = hub;
  store.listenTo({
    isDeadChannel: replica.isDeadChannel,
    onTopology: () => bus.recheck(),
    onPartLost: () => hub.attachAll('part lost'),
    onReconnect() {
      hub.attachAll('reconnect');
      replica.beatAgain();
    },
  });
  bus.listenTo({
    event(e) {
      relay.relay.eventPasses(e.name);
      delivery.event(e);
    },
    unlogged: (u, name, to, data) => delivery.unlogged(u, name, to, data),
    presence: (u, v, snapshot) => delivery.presence(u, v, snapshot),
    superseded: (_u, s) => delivery.superseded(s),
    relay: (file) => relay.requests.notified(file),
    revoked: (...revocation) => revocations.heard(...revocation),
    replaced: (...replaced) => sessions.onReplaced(...replaced),
    login: (pollId, word) => signin.wake(pollId, word),
    gap: (cause) => hub.attachAll(cause),
  });
  replicaListener.set({
    onNewId(oldId, cause) {
      hub.attachAll(cause);
      // A reaper must look there until all streams are known under the new id, including those that have just closed.
      const forgetAfterMs = config.hub.offlineGraceMs + FORGET_AFTER_GRACE_MS;
      const settled = hub.sweeper.allAttached().then(() => delay(forgetAfterMs, undefined, { ref: false }));
      const forget = settled.then(() => accountSets.forget(oldId));
      forget.catch((error: unknown) => onFailure('forget accounts', error));
    },
    onRevocations: (version, nowMs) => revocations.note(version, nowMs),
    onBeat(ok, error) {
      const changed = store.note(ok, error);
      if (changed && store.isUp) hub.attachAll('store');
      if (changed && !store.isUp) delivery.degrade();
      if (!ok) return;
      accountSets.addPending(replica.id);
      reaper.run();
    },
    onClockSet: () => hub.attachAll('clock'),
  });
}

/** Connects all parts to those made after them. The replica may start after this. */
export function connectEvents(
  host: Host,
  storeAndBus: StoreAndBus,
  modules: Modules,
  accounts: Accounts,
  streams: Streams,
): void {
  const { sessionListener, sessions, signin, identity } = accounts;
  connectReplica(host, storeAndBus, modules, accounts, streams);
  sessionListener.set({
    onEnded: (session) => sessions.ended(session),
    onShown: (device) => signin.use(device),
    onRevoked(account, deviceId, reason, sessionId) {
      identity.forget(account, deviceId, reason, sessionId);
      streams.hub.delivery.endRevoked(account, deviceId, reason, sessionId);
      modules.relay.requests.endDevice(account, deviceId, 'session_revoked');
    },
    onReplaced(account, deviceId, endsStreams) {
      if (!endsStreams) return identity.forget(account, deviceId, 'expired', null);
      identity.replaced(account, deviceId);
      streams.hub.delivery.showAgain(account, deviceId);
      modules.relay.requests.endDevice(account, deviceId, 'unauthenticated');
    },
  });
}
