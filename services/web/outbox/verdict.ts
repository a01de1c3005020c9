import { BatonClientError } from '../../../shared/client/index.ts';
import { storageCodeOf } from '../open-database.ts';
import type { Waiting } from './queue.ts';

/** The service remembers a key for 10 minutes. A later retry could arrive twice. */
const REPEATABLE_MS = 9 * 60_000;
/** How far a clock may be set back. Beyond it the age is unknown. */
const CLOCK_SLACK_MS = 60_000;

/** Tells whether its first attempt may have arrived, and is too old for a retry that the user did not ask for. */
export function isTooOld({ unknownSince, triedBy }: Waiting, deviceId: string, now = Date.now()): boolean {
  if (unknownSince === null) return false;
  const age = now - unknownSince;
  return age > REPEATABLE_MS || age < -CLOCK_SLACK_MS || triedBy !== deviceId;
}

/**
 * Decides what follows a failure. `wait`: a retry. `refused`: a retry would fail again. `stop`: the session is over, or the
 * item is no longer wanted.
 */
export function verdictOf({ action, code, status }: BatonClientError): 'wait' | 'refused' | 'stop' {
  if (code === 'aborted' || action === 'sign-in') return 'stop';
  // Something in front of the service answered: a login page of a network, or a proxy during a change.
  if (code === 'unexpected_answer') return 'wait';
  // A full mailbox may stay full for days, so the user is told.
  if (status === 409) return 'refused';
  return action === 'retry' ? 'wait' : 'refused';
}

/**
 * Makes the failure of an error of the browser, such as one of its databases. The service did not refuse anything, and the
 * request may have been sent before the error.
 */
const unexpected = (error: unknown): BatonClientError =>
  new BatonClientError(storageCodeOf(error) ?? 'unexpected', error instanceof Error ? error.message : String(error), {
    ...{ action: 'retry', outcome: 'unknown', cause: error },
  });

export const failureOf = (error: unknown): BatonClientError =>
  error instanceof BatonClientError ? error : unexpected(error);

/** The limits of a pause. `asked`: the longest pause that a response, such as a proxy's, can ask for. */
const PAUSE_MS = { first: 1_000, most: 30_000, asked: 600_000 };

/**
 * Returns the pause before the next attempt, after so many failures. Half of it is random, so that tabs and devices do not
 * retry together.
 */
export function pauseMs(failures: number, retryAfterMs: number | null = null, random = Math.random): number {
  const ms = Math.min(PAUSE_MS.most, PAUSE_MS.first * 2 ** failures);
  return Math.max(Math.min(PAUSE_MS.asked, retryAfterMs ?? 0), ms / 2 + (random() * ms) / 2);
}
