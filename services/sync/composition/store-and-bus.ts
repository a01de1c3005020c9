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

/** Callbacks of this replica's lease, for parts that are made later. */
type ReplicaListener = Pick<
  ConstructorParameters<typeof Replica>[0],
  'onNewId' | 'onRevocations' | 'onBeat' | 'onClockSet'
>;

/** Makes the store, and this replica on its bus. */
export function makeStoreAndBus({ config, logger, metrics, onFailure }: Host) {
  const store = new Store({ ...config.redis, logger, metrics });
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
  return { store, db: { redis, scripts, keys }, leases, accountSets, bus, replica, watches, replicaListener };
}

export type StoreAndBus = ReturnType<typeof makeStoreAndBus>;
