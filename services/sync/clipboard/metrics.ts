import { counter } from '../../server/telemetry/metrics.ts';

/** The clipboard. */
export const CLIPBOARD_METRICS = {
  clipboard_writes_total: counter('Clipboard writes accepted'),
};
