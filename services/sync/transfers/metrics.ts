import { counter } from '../../../shared/service-kit/telemetry/metrics.ts';

export const TRANSFER_METRICS = {
  transfers_total: counter('Transitions of transfers, by new state', ['state']),
};
