import type { Metrics } from '../telemetry/metrics.ts';

/** Number of devices that a script announced as online and as offline. */
export interface Transitions {
  online: number;
  offline: number;
}

export const countTransitions =
  ({ presence_transitions_total: total }: Pick<Metrics, 'presence_transitions_total'>) =>
  ({ online, offline }: Transitions): void => {
    if (online > 0) total.inc({ to: 'online' }, online);
    if (offline > 0) total.inc({ to: 'offline' }, offline);
  };

/**
 * Compares what was announced for an account with its routes, and announces what differs. Resolves to the ms after
 * which to reconcile again, because a grace still runs; 0 when all is settled. `alsoDead`: further channels whose
 * routes count as gone.
 */
export type Reconcile = (account: string, alsoDead?: readonly string[]) => Promise<number>;
