/**
 * Returns the milliseconds to wait after `failures` failures in a row: 0 to min(cap, base * 2^failures). Full jitter: clients
 * that lost the same server at the same moment return spread over the whole interval. Source: "Exponential Backoff And
 * Jitter", AWS Architecture Blog.
 */
export function backoffMs(failures: number, baseMs: number, capMs: number, random: () => number = Math.random): number {
  return random() * Math.min(capMs, baseMs * 2 ** failures);
}

/** The longest pause that a service, or a proxy in front of it, can ask for. */
const MOST_ASKED_MS = 60_000;

/** Returns the milliseconds to wait before the next try: `backoffMs`, after what the service asked for. */
export const pauseMs = (failures: number, askedMs: number | null, baseMs: number, capMs: number): number =>
  Math.min(askedMs ?? 0, MOST_ASKED_MS) + backoffMs(failures, baseMs, capMs);
