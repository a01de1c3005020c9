import type { PushOutcome } from '../sender.ts';
import type { Taken } from '../store.ts';

/*
 * Decides what becomes of a push after a try.
 *
 * A push that this replica has no settings for is left to the others (`not_here`). Only tries in a row that were all left
 * to others show that no replica has the settings, and any answer of a push service ends the count. The registration is
 * then suspended, which tells its client to register again.
 */

/** The pause between two tries: doubled each time, up to the longest. */
const [FIRST_PAUSE_MS, LONGEST_PAUSE_MS] = [5_000, 900_000];

/** After this many tries in a row, in some fifteen minutes, any rollout is over. */
const MOST_NOT_HERE = 8;
/**
 * This many in a row are enough when the time of the push is over. A test lasts five minutes, which is time for six or
 * seven tries. If half of the replicas have the settings, one push in 32 meets only the other half in five tries.
 */
const ENOUGH_NOT_HERE = 5;

/** The push is too big for the push service even without its preview. The push ends; its registration stays active. */
const TOO_BIG = 'status 413';
/** The TTL of the push ended before a push service took it. */
const EXPIRED = 'expired';

/** `retry` and `not_here`: the next try is due in `inMs`. `suspend` and `dropped`: the push is given up. */
export type Verdict =
  | { readonly outcome: 'delivered' | 'gone' }
  | { readonly outcome: 'retry' | 'not_here'; readonly inMs: number; readonly reason: string }
  | { readonly outcome: 'suspend' | 'dropped'; readonly reason: string };

/**
 * Returns whether no replica can send the push. Some replica can if another push to the registration was delivered
 * meanwhile.
 */
const isHopeless = ({ registration, sinceMs }: Taken, notHere: number, enough: number): boolean =>
  notHere >= enough && (registration.lastOkAtMs ?? 0) < sinceMs;

/**
 * Returns the pause before the next try, with jitter, so that pushes that failed together are not tried together. It is
 * never shorter than the push service asked for, nor than our own pause, because a service may say "at once" each time.
 */
export function pauseMs(attempts: number, afterMs: number | null): number {
  const longest = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** Math.min(attempts, 20));
  const ours = longest * (0.5 + Math.random() / 2);
  return afterMs === null ? ours : Math.max(ours, afterMs + Math.random() * Math.max(1_000, afterMs / 5));
}

function retried(afterMs: number | null, reason: string, { attempts }: Taken, leftMs: number): Verdict {
  const inMs = pauseMs(attempts, afterMs);
  return inMs < leftMs ? { outcome: 'retry', inMs, reason } : { outcome: 'dropped', reason: EXPIRED };
}

function leftToOthers(reason: string, taken: Taken, leftMs: number): Verdict {
  if (isHopeless(taken, taken.notHere, MOST_NOT_HERE)) return { outcome: 'suspend', reason };
  const inMs = pauseMs(taken.attempts, null);
  if (inMs < leftMs) return { outcome: 'not_here', inMs, reason };
  const isEnough = isHopeless(taken, taken.notHere + 1, ENOUGH_NOT_HERE);
  return isEnough ? { outcome: 'suspend', reason } : { outcome: 'dropped', reason: EXPIRED };
}

/** Returns what follows from a try. `leftMs`: for how long the push is still worth sending. */
export function verdictOn(answer: PushOutcome, taken: Taken, leftMs: number): Verdict {
  const isStale = (asOfMs = Number.POSITIVE_INFINITY) => asOfMs < Number(taken.registration.fence);
  switch (answer.outcome) {
    case 'not_here':
      return leftToOthers(answer.reason, taken, leftMs);
    case 'retry':
      return retried(answer.afterMs, answer.reason, taken, leftMs);
    case 'failed':
      return { outcome: answer.reason === TOO_BIG ? 'dropped' : 'suspend', reason: answer.reason };
    case 'gone':
      // An answer from before the registration is about an older registration.
      return isStale(answer.asOfMs) ? retried(null, 'renewed_since', taken, leftMs) : answer;
    case 'delivered':
      return answer;
  }
}

/** Returns what follows when the time of a push ended before this try. */
export const verdictOnLate = (taken: Taken): Verdict => ({
  outcome: isHopeless(taken, taken.notHere, ENOUGH_NOT_HERE) ? 'suspend' : 'dropped',
  reason: EXPIRED,
});
