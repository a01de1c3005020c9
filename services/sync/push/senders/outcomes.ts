import { RefusedAddress } from '../guard/guarded-agent.ts';
import type { PushOutcome } from '../sender.ts';
import type { ProviderAnswer } from './post.ts';

/*
 * Decides what to do after an answer. A reason is a fixed word or a status. It contains no text that a provider or the
 * owner of an endpoint wrote, and nothing that was sent.
 */

/** The longest TTL of a push: a longer pause would drop it. */
const LONGEST_WAIT_MS = 86_400_000;

const DELIVERED: PushOutcome = { outcome: 'delivered' };
export const GONE = { outcome: 'gone' } as const satisfies PushOutcome;
export const notHere = (reason: string): PushOutcome => ({ outcome: 'not_here', reason });
export const failed = (reason: string): PushOutcome => ({ outcome: 'failed', reason });
export const retry = (reason: string, afterMs: number | null = null): PushOutcome => ({
  outcome: 'retry',
  afterMs,
  reason,
});

/** Returns `Retry-After` (RFC 9110, section 10.2.3), seconds or a date, as ms from `nowMs`, at most a day; else null. */
function retryAfterMs(value: string | null, nowMs: number): number | null {
  if (value === null) return null;
  const text = value.trim();
  const ms = /^\d+$/.test(text) ? Number(text) * 1_000 : /^[A-Z]/.test(text) ? Date.parse(text) - nowMs : Number.NaN;
  return Number.isNaN(ms) ? null : Math.min(Math.max(0, ms), LONGEST_WAIT_MS);
}

/** Returns true for statuses that may change by the next try: a timeout, too many requests, too early, a provider fault. */
export const isTransient = (status: number): boolean =>
  status === 408 || status === 425 || status === 429 || (status >= 500 && status <= 599);

/**
 * Returns the outcome that follows from only a status. 401 and 403 concern our keys. They come for all users at once, so
 * they must not delete registrations.
 */
export function outcomeOfStatus({ status, retryAfter }: ProviderAnswer, nowMs: number): PushOutcome {
  if (status >= 200 && status <= 299) return DELIVERED;
  if (isTransient(status)) return retry(`status ${status}`, retryAfterMs(retryAfter, nowMs));
  if (status >= 300 && status <= 399) return failed(`redirect ${status}`);
  return failed(`status ${status}`);
}

const TIMEOUTS = ['UND_ERR_CONNECT_TIMEOUT', 'UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT'];

/** Returns the outcome of a request without an answer. */
export function outcomeOfError(error: unknown): PushOutcome {
  // A `retry`, as for an unknown name, so that the user who chose the name does not learn which names exist inside.
  if (error instanceof RefusedAddress) return retry('address_not_allowed');
  const { name, code } = (error ?? {}) as { name?: unknown; code?: unknown };
  if (name === 'TimeoutError' || TIMEOUTS.includes(String(code))) return retry('timeout');
  return retry(typeof code === 'string' ? 'network' : 'internal');
}
