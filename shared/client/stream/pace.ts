import { backoffMs } from '../time/backoff.ts';
import type { Drop } from './connection.ts';

const BASE_MS = 500;
const CAP_MS = 30_000;
/** A stream that ended sooner after its `ready` proves nothing, because the server may fail at once each time. */
const STABLE_MS = 1_000;
/** The longest wait that a server can ask for, because a client never gives up. */
const LONGEST_HINT_MS = 120_000;

/** Decides how long to wait before the next connection. */
export interface Pace {
  /** Returns the wait. `readyForMs`: how long ago the connection delivered `ready`; null when it never did. */
  nextDelayMs(drop: Drop, readyForMs: number | null): number;
}

/**
 * Makes a pace with full jitter from 0.5 s to 30 s, which begins again after a stream that delivered `ready` and lived for
 * a second. The wait that the server asks for is added (all clients may have got the same value). After `reconnect` on such
 * a stream it replaces the jitter, because that value was made only for this client.
 */
export function makePace(random: () => number): Pace {
  let failures = 0;
  return {
    nextDelayMs({ cause, hintMs }, readyForMs) {
      const stable = readyForMs !== null && readyForMs >= STABLE_MS;
      if (stable) failures = 0;
      if (cause === 'woken') return 0;
      const told = hintMs !== null && Number.isFinite(hintMs) && hintMs >= 0;
      const hint = told ? Math.min(hintMs, LONGEST_HINT_MS) : 0;
      if (cause === 'reconnect' && told && stable) return hint;
      const delayMs = hint + backoffMs(failures, BASE_MS, CAP_MS, random);
      failures += 1;
      return delayMs;
    },
  };
}
