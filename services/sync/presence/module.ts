import type { Presence } from '../../../shared/contract/modules/presence.ts';
import type { Db } from '../redis/db.ts';
import type { LeaseView } from '../replicas/liveness.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import { presenceView } from './presence-view.ts';
import { makePresenceHandlers } from './routes.ts';
import { makePresenceStore } from './store.ts';
import { countTransitions } from './transitions.ts';

interface PresenceParts {
  db: Db;
  graceMs: number;
  replica: LeaseView;
  metrics: Pick<Metrics, 'presence_transitions_total'>;
}

/**
 * Makes the presence of accounts: which devices are online. The store holds what was last announced (`{u}:presence`),
 * and beside it the routes: which streams are open, and when the others closed.
 *
 * - Grace: a device whose last stream closed stays online for `graceMs`, in which it may come back.
 * - Reconcile: one script compares the two, changes what differs, raises the version and announces it. It runs with
 *   every attach. It also runs when the grace of a device ends and the device is not back (`graces.ts`,
 *   `reconciler.ts`), for each account of a dead replica (`replicas/`), and when this replica is notified for an
 *   account of which it has no stream.
 * - Broadcast: each replica that hears of a version writes the snapshot to all its streams of the account. The snapshot
 *   comes with the announcement, or is read once (`broadcast.ts`).
 */
export function makePresence({ db, graceMs, replica, metrics }: PresenceParts) {
  const onTransitions = countTransitions(metrics);
  const { read, reconcile } = makePresenceStore({ ...db, graceMs, replica, onTransitions });
  const snapshot = async (account: string): Promise<Presence> => presenceView(await read(account));
  return { read, snapshot, reconcile, handlers: makePresenceHandlers(snapshot) };
}
