import { readWhenScraped } from '../../../shared/service-kit/telemetry/metrics.ts';
import { Bus } from '../redis/bus/bus.ts';
import { Store } from '../redis/store.ts';
import { makeAccountSets } from '../replicas/account-sets.ts';
import { agreedSettingsOf } from '../config/agreed-settings.ts';
import { makeClockWatch } from '../replicas/clock-watch.ts';
import { makeLeaseStore } from '../replicas/lease-store.ts';
import { Replica } from '../replicas/replica.ts';
import { makeSettingsWatch } from '../replicas/settings-watch.ts';
import { makeLate } from './late.ts';
import type { Host } from './host.ts';

/** How long the bus may be silent before it counts as disconnected: three nonces. */
const BUS_SILENT_MS = 6_000;

/** Callbacks of this replica's lease, for parts that are made later. */
type ReplicaListener = Pick<
  ConstructorParameters<typeof Replica>[0],
  'onNewId' | 'onRevocations' | 'onBeat' | 'onClockSet'
>;

/** Makes the store, and this replica on its bus. */
export function makeStoreAndBus({ config, logger, metrics, onFailure }: Host) {
  const store = new Store({ ...config.redis, rateScale: config.http.rateLimitScale, logger, metrics });
  const { redis, keys, scripts } = store;
  const own = agreedSettingsOf(config);
  const settings = JSON.stringify(own);
  const leases = makeLeaseStore({ redis, scripts: store.probes, keys, settings, publish: store.publish });
  const accountSets = makeAccountSets({ redis, scripts: store.probes, keys });
  const bus = new Bus({ open: store.subscriber, onFailure });
  const replicaListener = makeLate<ReplicaListener>('what listens to the lease');
  const replica = new Replica({
    leases,
    bus,
    keys,
    onNewId: (oldId, cause) => replicaListener.get().onNewId(oldId, cause),
    onRevocations: (version, nowMs) => replicaListener.get().onRevocations(version, nowMs),
    onBeat(ok, error) {
      clockWatch.look();
      if (ok) settingsWatch.look();
      replicaListener.get().onBeat(ok, error);
    },
    onClockSet: () => replicaListener.get().onClockSet(),
    onSilentSubscriber() {
      metrics.bus_rebuilds_total.inc();
      bus.rebuild();
    },
    isUp: () => store.isUp,
  });
  const clockWatch = makeClockWatch({ skewMs: () => replica.clockSkewMs, logger });
  const settingsWatch = makeSettingsWatch({
    own,
    others: replica.others,
    read: leases.settingsOf,
    logger,
    onFailure,
  });
  const watches = { clockWatch, settingsWatch };
  readWhenScraped(metrics.bus_connected, () => Number(bus.silentForMs < BUS_SILENT_MS));
  readWhenScraped(metrics.bus_last_heard_timestamp_seconds, () => (replica.storeNowMs() - bus.silentForMs) / 1000);
  readWhenScraped(metrics.nodes_live, () => replica.live);
  readWhenScraped(metrics.clock_skew_seconds, () => (replica.clockSkewMs ?? 0) / 1000);
  return { store, db: { redis, scripts, keys }, leases, accountSets, bus, replica, watches, replicaListener };
}

export type StoreAndBus = ReturnType<typeof makeStoreAndBus>;
