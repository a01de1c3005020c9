import { counter } from '../../../shared/service-kit/telemetry/metrics.ts';

/** Metrics of due jobs. */
export const DUE_METRICS = {
  due_reindexed_total: counter('Accounts with something due that the index had lost, or had too late'),
  due_run_total: counter('Things that became due and were run', ['kind', 'outcome']),
};
