import { scriptsIn } from '../redis/script.ts';
import * as t from '../../../shared/service-kit/redis/scripts/script-values.ts';

const defineScript = scriptsIn(import.meta.url);

export const accountAdd = defineScript('account-add', {
  keys: ['accounts'],
  args: { account: t.text },
  constants: { ACCOUNTS_SECONDS: 7 * 86_400 },
  runsWhenFull: true,
});

export const leaseStart = defineScript('lease-start', {
  keys: ['replicas', 'settings'],
  args: {
    replica: t.text,
    /** Settings that must agree, as JSON. */
    settings: t.text,
  },
  runsWhenFull: true,
});

export const leaseRenew = defineScript('lease-renew', {
  keys: ['replicas', 'reaping', 'revokedVersion'],
  args: { replica: t.text },
  reply: t.record({
    /** False when the replica that asked no longer has a lease. */
    renewed: t.flag,
    counters: t.fieldMap,
    reaping: t.fieldMap,
    /** Version of the revocations, '' when there is none. */
    revocations: t.text,
    /** Time by the store's clock. */
    atMs: t.number,
  }),
  runsWhenFull: true,
});

export const leaseReap = defineScript('lease-reap', {
  keys: ['replicas', 'reaping', 'settings'],
  args: {
    /** Dead replica. */
    dead: t.text,
    /** The counter that stood still; '' to take over from a dead reaper. */
    counter: t.text,
    /** The dead reaper; '' for none. */
    reaper: t.text,
    newReaper: t.text,
  },
  reply: t.record({ claimed: t.flag }),
  runsWhenFull: true,
});
