import { defineScript } from '../redis/script.ts';
import {
  fieldMap,
  flag,
  nothing,
  number,
  record,
  text,
} from '../../../shared/service-kit/redis/scripts/script-values.ts';

export const accountAdd = defineScript({
  file: new URL('./lua/account-add.lua', import.meta.url),
  keys: ['accounts'],
  args: { account: text },
  constants: { ACCOUNTS_SECONDS: 7 * 86_400 },
  reply: nothing,
  runsWhenFull: true,
});

export const leaseStart = defineScript({
  file: new URL('./lua/lease-start.lua', import.meta.url),
  keys: ['replicas', 'settings'],
  args: {
    replica: text,
    /** Settings that must agree, as JSON. */
    settings: text,
  },
  reply: nothing,
  runsWhenFull: true,
});

export const leaseRenew = defineScript({
  file: new URL('./lua/lease-renew.lua', import.meta.url),
  keys: ['replicas', 'reaping', 'revokedVersion'],
  args: { replica: text },
  reply: record({
    renewed: flag,
    counters: fieldMap,
    reaping: fieldMap,
    /** Version of the revocations, '' when there is none. */
    revocations: text,
    /** Time by the store's clock. */
    atMs: number,
  }),
  runsWhenFull: true,
});

export const leaseReap = defineScript({
  file: new URL('./lua/lease-reap.lua', import.meta.url),
  keys: ['replicas', 'reaping', 'settings'],
  args: {
    /** Dead replica. */
    dead: text,
    /** The counter that stood still; '' to take over from a dead reaper. */
    counter: text,
    /** The dead reaper; '' for none. */
    reaper: text,
    newReaper: text,
  },
  reply: record({ claimed: flag }),
  runsWhenFull: true,
});
