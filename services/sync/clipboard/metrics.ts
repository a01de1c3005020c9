import { counter } from '../../../shared/service-kit/telemetry/metrics.ts';

/** Metrics of the clipboard. */
export const CLIPBOARD_METRICS = {
  clipboard_writes_total: counter('Clipboard writes accepted'),
};
