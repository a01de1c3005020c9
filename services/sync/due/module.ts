import type { Db } from '../redis/db.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import { type DueHandler, DueSweeper } from './due-sweeper.ts';
import { makeDueStore } from './store.ts';

interface DueModuleParts {
  db: Db;
  repairMs: number;
  isUp: () => boolean;
  metrics: Pick<Metrics, 'due_run_total' | 'due_reindexed_total'>;
  onFailure: (task: string, error: unknown) => void;
}

/**
 * Constructs and wires the parts of this module. The sweeper, which runs due jobs, is made after the modules that
 * schedule them.
 */
export function makeDueModule({ db, repairMs, isUp, metrics, onFailure }: DueModuleParts) {
  const store = makeDueStore(db);
  return {
    schedule: store.schedule,
    remind: store.remind,
    makeSweeper: (handlers: Readonly<Record<string, DueHandler>>) =>
      new DueSweeper({
        store,
        handlers,
        repairMs,
        isUp,
        onRun: (kind, outcome) => metrics.due_run_total.inc({ kind, outcome }),
        onReindexed: (accounts) => metrics.due_reindexed_total.inc(accounts),
        onFailure,
      }),
  };
}
