import { Reaper } from '../replicas/reaper.ts';
import { Hub } from '../streams/hub.ts';
import { makePending } from '../streams/delivery/pending.ts';
import { makeStreamStore } from '../streams/store.ts';
import type { Accounts } from './accounts.ts';
import type { Modules } from './modules.ts';
import type { Host } from './host.ts';
import type { StoreAndBus } from './store-and-bus.ts';

/** Makes the streams of this replica, their presence, and the reaper that announces the streams of dead replicas offline. */
export function makeStreams(
  { config, metrics, onFailure }: Host,
  { store, db, leases, accountSets, replica }: StoreAndBus,
  { presence, messages, transfers, due }: Modules,
  { identity, signin, isRevoked }: Accounts,
) {
  const { scripts, keys } = db;
  const { offlineGraceMs: graceMs, sweepSeconds, rotateSeconds, heartbeatMs, maxStreams } = config.hub;
  const hub = new Hub({
    store: makeStreamStore({ scripts, keys, graceMs, replica, publish: store.publish, losses: store.losses, metrics }),
    reconcileAccount: presence.reconcile,
    accounts: accountSets,
    replica,
    modules: {
      readPresence: presence.snapshot,
      pending: makePending({ messages, transfers, signin }),
      restoreRow: identity.restoreRow,
      isRevoked,
      // The index lies in another slot, and a stream must not wait for it. The next sweep schedules it again.
      scheduleDue: (account, inMs) =>
        due.remind(account, inMs).catch((error: unknown) => onFailure('schedule due', error)),
    },
    metrics,
    timing: { sweepMs: sweepSeconds * 1000, rotateMs: rotateSeconds * 1000, graceMs, heartbeatMs },
    maxStreams,
    isUp: () => store.isUp,
    onFailure,
  });
  const reaper = new Reaper({
    replica,
    leases,
    accounts: accountSets,
    reconcile: presence.reconcile,
    compare: store.compare,
    onReaped: (cause) => metrics.nodes_reaped_total.inc({ cause }),
    onFailure: (error) => onFailure('reap', error),
  });
  return { hub, reaper };
}

export type Streams = ReturnType<typeof makeStreams>;
