import type { Keys } from '../redis/keys.ts';
import type { ScriptLoader } from '../../server/redis/scripts/scripts.ts';
import type { Liveness } from '../replicas/replica.ts';
import { presenceReconcile } from './scripts.ts';
import type { Reconcile } from './transitions.ts';

interface PresenceStoreParts {
  scripts: ScriptLoader;
  keys: Keys;
  graceMs: number;
  /** What scripts cannot read in the lease table. */
  replica: Liveness;
}

/** The presence of an account, as its slot has it. */
export function makePresenceStore({ scripts, keys, graceMs, replica: { deadChannels, lateMs } }: PresenceStoreParts): {
  reconcile: Reconcile;
} {
  const reconcileScript = scripts.define(presenceReconcile, { GRACE_MS: graceMs });

  return {
    reconcile: (account, alsoDead = []) =>
      reconcileScript(keys.inAccount(account), {
        dead: [deadChannels(), ...alsoDead].filter(Boolean).join('\n'),
        lateMs: lateMs(),
      }),
  };
}
