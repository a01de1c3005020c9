import type { Confirm } from '../redis/confirmer.ts';
import type { Db } from '../redis/db.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import { makeDeletionStore } from './deletion-store.ts';
import { makeDeletions } from './deletions.ts';
import { makeKeyring } from './keyring.ts';
import { makeProofs } from './proofs.ts';
import { makeKeysHandlers } from './routes.ts';
import { makeKeyringStore } from './store.ts';

interface KeysModuleParts {
  db: Db;
  /** The name of this installation, as in `/api/me`. */
  service: string;
  /** Null if the write to the primary is enough. */
  confirm: Confirm | null;
  scheduleDue: (account: string, delayMs: number) => Promise<void>;
  metrics: Pick<Metrics, 'keyring_writes_total' | 'keyring_unsigned_total'>;
}

export function makeKeysModule({ db, service, confirm, scheduleDue, metrics }: KeysModuleParts) {
  const store = makeKeyringStore({ ...db, confirm });
  const proofs = makeProofs({ store, service, onUnsigned: () => metrics.keyring_unsigned_total.inc() });
  const onWritten = (what: 'ring' | 'guests') => metrics.keyring_writes_total.inc({ what });
  const keyring = makeKeyring({ store, proofs, service, onWritten });
  const deletions = makeDeletions({ keyringStore: store, store: makeDeletionStore({ ...db, scheduleDue }), proofs });
  return {
    handlers: makeKeysHandlers(keyring, deletions),
    allowErase: deletions.allowErase,
    dropErased: deletions.dropErased,
    runDue: deletions.runDue,
  };
}
