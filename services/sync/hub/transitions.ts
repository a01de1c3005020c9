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
