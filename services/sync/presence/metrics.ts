import { counter } from '../../../shared/service-kit/telemetry/metrics.ts';

export const PRESENCE_METRICS = {
  presence_transitions_total: counter('Devices announced online or offline', ['to']),
};
