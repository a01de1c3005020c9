import { counter } from '../../../shared/service-kit/telemetry/metrics.ts';

export const CLIPBOARD_METRICS = {
  clipboard_writes_total: counter('Clipboard writes accepted'),
};
