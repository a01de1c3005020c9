import type { Metrics } from '../telemetry/metrics.ts';

/** How many devices a script announced as online and as offline. */
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
 * Compares what was announced of an account with what is routed. Resolves to the ms after which a grace ends that is
 * still running, 0 when all is settled. `alsoDead`: the replica's own channels, when it holds no stream of the account.
 */
export type Reconcile = (
  account: string,
  alsoDead?: readonly string[],
) => Promise<{ againInMs: number; transitions: Transitions }>;
