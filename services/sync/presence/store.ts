import type { Db } from '../redis/db.ts';
import type { LeaseView } from '../replicas/liveness.ts';
import type { PresenceFields } from './presence-view.ts';
import { presenceRead, presenceReconcile } from './scripts.ts';
import type { Reconcile, Transitions } from './transitions.ts';

interface PresenceStoreParts extends Pick<Db, 'scripts' | 'keys'> {
  graceMs: number;
  /** The part of the lease table that scripts cannot read. */
  replica: LeaseView;
  onTransitions: (counts: Transitions) => void;
}

/** Makes the store of the presence of accounts, in the slot of each account. */
export function makePresenceStore({ scripts, keys, graceMs, replica, onTransitions }: PresenceStoreParts) {
  const readScript = scripts.define(presenceRead);
  const reconcileScript = scripts.define(presenceReconcile, { GRACE_MS: graceMs });

  const read = (account: string): Promise<PresenceFields> => readScript(keys.inAccount(account), {});

  const reconcile: Reconcile = async (account, alsoDead = []) => {
    const { againInMs, transitions } = await reconcileScript(keys.inAccount(account), {
      dead: [replica.deadChannels(), ...alsoDead].filter(Boolean).join('\n'),
      lateMs: replica.lateMs(),
    });
    onTransitions(transitions);
    return againInMs;
  };

  return { read, reconcile };
}
