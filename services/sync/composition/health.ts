import type { Express } from 'express';
import type { Logger } from 'pino';
import type { Config } from '../config/config.ts';
import type { Hub } from '../streams/hub.ts';
import type { Replica } from '../replicas/replica.ts';
import type { Bus } from '../redis/bus/bus.ts';
import { bindGauges } from '../telemetry/gauges.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import { makeAdminApp } from '../http/admin.ts';

interface HealthParts {
  config: Config;
  store: { readonly isUp: boolean; readonly wasSeen: boolean; readonly reason: string | null };
  relayStore: { readonly isUp: boolean; readonly reason: string | null };
  /** Null without one. */
  broker: { failing: () => string[] } | null;
  hub: Hub;
  replica: Replica;
  bus: Bus;
  metrics: Metrics;
  logger: Logger;
  isDraining: () => boolean;
}

/** What the admin port tells of this replica: ready or not and why, what each dependency looks like, and the gauges. */
export function makeHealth(parts: HealthParts): Express {
  const { config, store, relayStore, broker, hub, replica, bus, metrics, logger, isDraining } = parts;
  const notSeen = () => ['the store was not reached yet', ...(store.reason === null ? [] : [store.reason])].join(': ');
  const isReady = () => ({
    ready: store.wasSeen && !isDraining(),
    reasons: [...(store.wasSeen ? [] : [notSeen()]), ...(isDraining() ? ['draining'] : [])],
  });
  const status = async () => ({
    replica: { id: replica.id, live_replicas: replica.live, streams: hub.streams.size, draining: isDraining() },
    store: { up: store.isUp, reason: store.reason },
    relay_store: { up: relayStore.isUp, reason: relayStore.reason },
    broker: broker && { failing: broker.failing() },
    bus: { silent_for_ms: Math.round(bus.silentForMs) },
  });
  bindGauges(metrics, {
    streams: () => hub.streams.size,
    streamsLimit: config.hub.maxStreams,
    bufferedBytes: () => hub.streams.bufferedBytes,
    busSilentForMs: () => bus.silentForMs,
    liveReplicas: () => replica.live,
    isDraining,
  });
  return makeAdminApp({ isReady, status, registry: metrics.registry, allowedHosts: config.http.allowedHosts, logger });
}
