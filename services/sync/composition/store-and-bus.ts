import { Bus } from '../redis/bus/bus.ts';
import { Store } from '../redis/store.ts';
import { makeAccountSets } from '../replicas/account-sets.ts';
import { makeClockWatch } from '../replicas/clock-watch.ts';
import { makeLeaseStore } from '../replicas/lease-store.ts';
import { Replica } from '../replicas/replica.ts';
import { makeLate } from './late.ts';
import type { Host } from './host.ts';

/** What the lease of this replica tells those that are made after it. */
type ReplicaListener = Pick<
  ConstructorParameters<typeof Replica>[0],
  'onNewId' | 'onRevocations' | 'onBeat' | 'onClockSet'
>;

/** The store, and this replica on its bus. */
export function makeStoreAndBus({ config, logger, metrics, onFailure }: Host) {
  const store = new Store({ ...config.redis, logger, metrics });
  const { redis, keys, scripts } = store;
  const leases = makeLeaseStore({ redis, scripts: store.probes, keys, publish: store.publish });
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
  return { store, db: { redis, scripts, keys }, leases, accountSets, bus, replica, clockWatch, replicaListener };
}

export type StoreAndBus = ReturnType<typeof makeStoreAndBus>;
