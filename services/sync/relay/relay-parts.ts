import type { Metrics } from '../telemetry/metrics.ts';
import type { FairScheduler } from './pacing/fair-scheduler.ts';
import type { Generations, RelayTransfers } from './generations.ts';
import type { Notifier } from './wakeup/notifier.ts';
import type { Quota } from './quota.ts';
import type { Requests } from './requests/requests.ts';
import type { RelayStore } from './store.ts';

/** The parts and settings that the relay is given. */
export interface RelaySettings {
  store: RelayStore;
  transfers: RelayTransfers;
  metrics: Metrics;
  windowBytes: number;
  /** Time in which a peer that is waited for has to move some bytes, or it counts as gone. */
  stallMs: number;
  onFailure: (task: string, error: unknown) => void;
}

/** The same with the relay's own parts, for the classes that run requests. */
export interface RelayParts extends RelaySettings {
  generations: Generations;
  quota: Quota;
  notifier: Notifier;
  requests: Requests;
  scheduler: FairScheduler;
}
