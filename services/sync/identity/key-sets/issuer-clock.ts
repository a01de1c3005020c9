/** `Date` has whole seconds, so its time is half a second old on average. */
const HALF_SECOND_MS = 500;

interface Answered {
  /** `Date` of the response; null if it has none. */
  date: string | null;
  /** Whether a cache kept the response for some time, so that its `Date` is not the present time. */
  isKept: boolean;
  /** When the request was sent and the response was read, by `performance.now()`. */
  sentMs: number;
  readMs: number;
}

/**
 * Makes the clock of the issuer of tokens, from the `Date` of its responses (RFC 9110, section 6.6.1). So a replica with a
 * wrong clock judges tokens like every other. Until the first response it is the clock of this machine.
 */
export function makeIssuerClock({ now = () => performance.now(), wallNow = Date.now } = {}) {
  /** How far the issuer's clock is ahead of `now`. */
  let aheadMs: number | null = null;
  return {
    observe({ date, isKept, sentMs, readMs }: Answered): void {
      const saidMs = date === null || isKept ? Number.NaN : Date.parse(date);
      if (Number.isFinite(saidMs)) aheadMs = saidMs + HALF_SECOND_MS - (sentMs + readMs) / 2;
    },

    /** Unix ms. */
    nowMs: (): number => (aheadMs === null ? wallNow() : now() + aheadMs),
  };
}

export type IssuerClock = ReturnType<typeof makeIssuerClock>;
