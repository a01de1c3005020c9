/**
 * Full jitter: a random wait between zero and a ceiling that doubles with each failure. Clients that lost the same server at
 * the same moment return spread over the whole interval. Source: "Exponential Backoff And Jitter", AWS Architecture Blog.
 */
export interface Backoff {
  readonly baseMs: number;
  readonly capMs: number;
}

/** Returns the milliseconds to wait after `failures` failures in a row: 0 to min(cap, base * 2^failures). */
export function backoffMs({ baseMs, capMs }: Backoff, failures: number, random: () => number): number {
  return random() * Math.min(capMs, baseMs * 2 ** failures);
}
