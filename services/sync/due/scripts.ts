import { scriptsIn } from '../redis/script.ts';
import * as t from '../../../shared/service-kit/redis/scripts/script-values.ts';

const defineScript = scriptsIn(import.meta.url);

/** How long other replicas leave a claimed account alone. */
export const LEASE_MS = 30_000;

export const dueSchedule = defineScript('due-schedule', {
  keys: ['index', 'stamps'],
  args: {
    account: t.text,
    /** Delay in ms from now. */
    delayMs: t.number,
    /** Random text, so that two schedules of one millisecond differ. '' when the job is written already. */
    nonce: t.text,
  },
  runsWhenFull: true,
});

export const dueClaim = defineScript('due-claim', {
  keys: ['index', 'stamps'],
  args: {
    /** Most accounts to claim. */
    count: t.digits,
  },
  constants: { LEASE_MS },
  reply: t.record({ claimed: t.rest(t.rows({ account: t.text, stamp: t.text })) }),
  runsWhenFull: true,
});

export const dueJobs = defineScript('due-jobs', {
  keys: ['due'],
  args: {
    /** Number of jobs to skip. */
    passed: t.digits,
  },
  constants: { JOBS_AT_ONCE: 100 },
  reply: t.record({ nextInMs: t.maybeNumber, due: t.rest(t.textList) }),
});

export const dueSettle = defineScript('due-settle', {
  keys: ['index', 'stamps'],
  args: {
    account: t.text,
    /** Stamp at the time of the claim. */
    claimedStamp: t.text,
    /** Ms until the account's next job, '' when it has none. */
    nextInMs: t.maybeNumber,
  },
  constants: {
    /** Longest time of a request between scheduling the account and writing its job. */
    LONGEST_REQUEST_MS: 600_000,
    /**
     * Nearly every request takes less. A scheduled account is checked again after this time, whatever else is due
     * there.
     */
    USUAL_REQUEST_MS: 10_000,
  },
  runsWhenFull: true,
});
