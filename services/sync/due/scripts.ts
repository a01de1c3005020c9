import { defineScript } from '../redis/script.ts';
import {
  digits,
  maybeNumber,
  nothing,
  number,
  record,
  rest,
  rows,
  text,
  textList,
} from '../../../shared/service-kit/redis/scripts/script-values.ts';

/** How long other replicas leave a claimed account alone. */
export const LEASE_MS = 30_000;

export const dueSchedule = defineScript({
  file: new URL('./lua/due-schedule.lua', import.meta.url),
  keys: ['index', 'stamps'],
  args: {
    account: text,
    /** Delay in ms from now. */
    delayMs: number,
    /** Random text, so that two schedules of one millisecond differ. '' when the job is written already. */
    nonce: text,
  },
  reply: nothing,
  runsWhenFull: true,
});

export const dueClaim = defineScript({
  file: new URL('./lua/due-claim.lua', import.meta.url),
  keys: ['index', 'stamps'],
  args: {
    /** Most accounts to claim. */
    count: digits,
  },
  constants: { LEASE_MS },
  reply: record({ claimed: rest(rows({ account: text, stamp: text })) }),
  runsWhenFull: true,
});

export const dueJobs = defineScript({
  file: new URL('./lua/due-jobs.lua', import.meta.url),
  keys: ['due'],
  args: {
    /** Number of jobs to skip. */
    passed: digits,
  },
  constants: { JOBS_AT_ONCE: 100 },
  reply: record({ nextInMs: maybeNumber, due: rest(textList) }),
});

export const dueSettle = defineScript({
  file: new URL('./lua/due-settle.lua', import.meta.url),
  keys: ['index', 'stamps'],
  args: {
    account: text,
    /** Stamp at the time of the claim. */
    claimedStamp: text,
    /** Ms until the account's next job, '' when it has none. */
    nextInMs: maybeNumber,
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
  reply: nothing,
  runsWhenFull: true,
});
