import { BatonClientError } from '../../../shared/client/index.ts';
import type { Waiting } from './queue.ts';

/** The service remembers a key for 10 minutes: later a repetition could arrive twice. */
const REPEATABLE_MS = 9 * 60_000;
/** So far a clock may be set back. One that went farther tells nothing. */
const CLOCK_SLACK_MS = 60_000;

/** Its first attempt may have arrived, and is too old to be repeated without somebody who wants that. */
export function isTooOld({ unknownSince, triedBy }: Waiting, deviceId: string, now = Date.now()): boolean {
  if (unknownSince === null) return false;
  const age = now - unknownSince;
  return age > REPEATABLE_MS || age < -CLOCK_SLACK_MS || triedBy !== deviceId;
}

/**
 * What becomes of something that failed. `wait`: it is tried again. `refused`: it would fail again. `stop`: the session is over,
 * or nobody wants it any more.
 */
export function verdictOf({ action, code, status }: BatonClientError): 'wait' | 'refused' | 'stop' {
  if (code === 'aborted' || action === 'sign-in') return 'stop';
  // Something in front of the service answered: a login page of a network, a proxy that is being changed.
  if (code === 'unexpected_answer') return 'wait';
  // Full for now, and maybe for days: who wrote it is told.
  if (status === 409) return 'refused';
  return action === 'retry' ? 'wait' : 'refused';
}

const unexpected = (error: unknown): BatonClientError =>
  new BatonClientError('unexpected', error instanceof Error ? error.message : String(error), { action: 'tell-user' });

export const failureOf = (error: unknown): BatonClientError =>
  error instanceof BatonClientError ? error : unexpected(error);

/** `asked`: whoever asks for more, as a proxy with a page of its own, is asked once more all the same. */
const PAUSE_MS = { first: 1_000, most: 30_000, asked: 600_000 };

/** Before the next attempt, after so many in vain; half of it is drawn, so that tabs and devices do not come together. */
export function pauseMs(failures: number, retryAfterMs: number | null = null, random = Math.random): number {
  const ms = Math.min(PAUSE_MS.most, PAUSE_MS.first * 2 ** failures);
  return Math.max(Math.min(PAUSE_MS.asked, retryAfterMs ?? 0), ms / 2 + (random() * ms) / 2);
}
