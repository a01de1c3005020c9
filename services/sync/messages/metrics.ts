import { counter } from '../../../shared/service-kit/telemetry/metrics.ts';

export const MESSAGE_METRICS = {
  messages_total: counter('Messages accepted'),
};
