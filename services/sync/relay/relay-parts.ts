import type { Metrics } from '../telemetry/metrics.ts';
import type { FairScheduler } from './pacing/fair-scheduler.ts';
import type { Generations, RelayTransfers } from './generations.ts';
import type { Notifier } from './wakeup/notifier.ts';
import type { Quota } from './quota.ts';
import type { Requests } from './requests/requests.ts';
import type { RelayStore } from './store.ts';

/** What the relay is given. */
export interface RelaySettings {
  store: RelayStore;
  transfers: RelayTransfers;
  metrics: Metrics;
  windowBytes: number;
  /** A peer that is waited for and moves next to nothing in this time counts as gone. */
  stallMs: number;
  onFailure: (task: string, error: unknown) => void;
}

/** The same with its parts, for those that run requests. */
export interface RelayParts extends RelaySettings {
  generations: Generations;
  quota: Quota;
  notifier: Notifier;
  requests: Requests;
  scheduler: FairScheduler;
}
