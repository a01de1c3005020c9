/**
 * Returns the milliseconds to wait after `failures` failures in a row: 0 to min(cap, base * 2^failures). Full jitter: clients
 * that lost the same server at the same moment return spread over the whole interval. Source: "Exponential Backoff And
 * Jitter", AWS Architecture Blog.
 */
export function backoffMs(failures: number, baseMs: number, capMs: number, random: () => number = Math.random): number {
  return random() * Math.min(capMs, baseMs * 2 ** failures);
}
