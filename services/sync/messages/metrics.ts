import { counter } from '../../../shared/service-kit/telemetry/metrics.ts';

/** Messages. */
export const MESSAGE_METRICS = {
  messages_total: counter('Messages accepted'),
};
