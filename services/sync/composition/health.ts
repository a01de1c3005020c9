import { totalmem } from 'node:os';
import { getHeapStatistics } from 'node:v8';
import type { Express } from 'express';
import type { Logger } from 'pino';
import { agreedSettingsOf, fingerprintOf } from '../config/agreed-settings.ts';
import type { Config } from '../config/config.ts';
import type { Hub } from '../streams/hub.ts';
import type { Replica } from '../replicas/replica.ts';
import type { Bus } from '../redis/bus/bus.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import { VERSION } from '../../../shared/service-kit/version.ts';
import { makeAdminApp } from '../../../shared/service-kit/http/admin.ts';

interface StoreHealth {
  readonly isUp: boolean;
  readonly reason: string | null;
  readonly warnings: readonly string[];
}

const statusOf = ({ isUp, reason, warnings }: StoreHealth) => ({ up: isUp, reason, warnings });

/** Returns this process's memory and its limits, in bytes. `container` is null if nothing limits it. */
function memoryStatus() {
  const { rss, heapUsed, external } = process.memoryUsage();
  const limit = process.constrainedMemory();
  // Without a limit the kernel reports its largest number.
  const container = limit > 0 && limit < totalmem() ? limit : null;
  return { rss, heap: heapUsed, heap_limit: getHeapStatistics().heap_size_limit, external, container };
}

interface HealthParts {
  config: Config;
  store: StoreHealth & { readonly wasSeen: boolean };
  relayStore: StoreHealth;
  /** Null without a broker. */
  broker: { status: () => object } | null;
  hub: Hub;
  replica: Replica;
  /** Whether this machine's clock agrees with the store's, and whether the settings of all replicas agree. */
  watches: { clockWatch: { warning: () => string | null }; settingsWatch: { warnings: () => string[] } };
  bus: Bus;
  metrics: Metrics;
  logger: Logger;
  isDraining: () => boolean;
}

/** Makes the admin app of this replica: whether and why it is ready, and the state of each dependency. */
export function makeHealth(parts: HealthParts): Express {
  const {
    config,
    store,
    relayStore,
    broker,
    hub,
    replica,
    watches: { clockWatch, settingsWatch },
    bus,
    metrics,
    logger,
    isDraining,
  } = parts;
  const notSeen = () => ['the store was not reached yet', ...(store.reason === null ? [] : [store.reason])].join(': ');
  const isReady = () => ({
    ready: store.wasSeen && !isDraining(),
    reasons: [...(store.wasSeen ? [] : [notSeen()]), ...(isDraining() ? ['draining'] : [])],
  });
  const status = async () => {
    const clockWarning = clockWatch.warning();
    return {
      replica: {
        id: replica.id,
        version: VERSION,
        node: process.version,
        up_for_seconds: Math.round(process.uptime()),
        live_replicas: replica.live,
        draining: isDraining(),
        streams: hub.streams.size,
        streams_limit: config.hub.maxStreams,
        settings: fingerprintOf(agreedSettingsOf(config)),
        // The warnings hold no value of a secret.
        warnings: [...config.warnings, ...(clockWarning === null ? [] : [clockWarning]), ...settingsWatch.warnings()],
        clock_skew_ms: replica.clockSkewMs === null ? null : Math.round(replica.clockSkewMs),
      },
      memory: memoryStatus(),
      store: statusOf(store),
      relay_store: statusOf(relayStore),
      broker: broker && broker.status(),
      bus: { silent_for_ms: Math.round(bus.silentForMs) },
    };
  };
  return makeAdminApp({ isReady, status, registry: metrics.registry, allowedHosts: config.http.allowedHosts, logger });
}
