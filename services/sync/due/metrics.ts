import { counter } from '../../../shared/service-kit/telemetry/metrics.ts';

export const DUE_METRICS = {
  due_reindexed_total: counter('Accounts with due jobs that the index had lost or had under too late a time'),
  due_run_total: counter('Due jobs that were run', ['kind', 'outcome']),
};
