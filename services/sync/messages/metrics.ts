import { counter } from '../../server/telemetry/metrics.ts';

/** Messages. */
export const MESSAGE_METRICS = {
  messages_total: counter('Messages accepted'),
};
