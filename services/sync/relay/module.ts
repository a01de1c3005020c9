import type { Logger } from 'pino';
import { BulkStore } from '../redis/bulk/bulk-store.ts';
import type { Db } from '../redis/db.ts';
import type { Reachability } from '../../../shared/service-kit/redis/reachability.ts';
import type { Config } from '../config/config.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import type { RelayTransfers } from './generations.ts';
import { Relay } from './relay.ts';
import { makeRelayHandlers } from './routes.ts';
import { makeRelayStore } from './store.ts';

interface RelayModuleParts {
  db: Db;
  settings: Config['relay'];
  /** How long an untouched file is kept. */
  idleMs: number;
  transfers: RelayTransfers;
  /** The channel of this replica, and the way to publish on those of others. */
  bus: { channel: () => string; publish: (channel: string, payload: string) => Promise<unknown> };
  /** Reachability of the common Redis, which may hold the bytes too. */
  reachability: Reachability;
  logger: Logger;
  metrics: Metrics;
  onFailure: (task: string, error: unknown) => void;
}

export function makeRelayModule({ db, settings, idleMs, transfers, bus, ...parts }: RelayModuleParts) {
  const { logger, metrics } = parts;
  const reachability = parts.reachability.of('relay', settings.address);
  const probeKey = db.keys.relayState('probe', 0);
  const isOwn = reachability !== parts.reachability;
  const bulk = new BulkStore({ address: settings.address, isOwn, reachability, probeKey, logger, metrics });
  const relay = new Relay({
    store: makeRelayStore({ bulk, ...db, idleMs }),
    transfers,
    metrics,
    onFailure: parts.onFailure,
    windowBytes: settings.windowBytes,
    stallMs: settings.stallMs,
    memoryPercent: settings.memoryPercent,
    ...bus,
  });
  const { requests } = relay;
  return { bulk, relay, requests, handlers: makeRelayHandlers(relay) };
}

export type RelayModule = ReturnType<typeof makeRelayModule>;
