/** `Date` has whole seconds, so what it says is half a second old on average. */
const HALF_SECOND_MS = 500;

interface Answered {
  /** `Date` of the answer; null where it has none. */
  date: string | null;
  /** A cache has kept it for some time: it does not say what time it is. */
  isKept: boolean;
  /** When it was asked for and read, by `performance.now()`. */
  sentMs: number;
  readMs: number;
}

/**
 * The clock of whoever issues tokens, as the `Date` of its answers tells it (RFC 9110, section 6.6.1). A replica whose
 * own clock is wrong judges them all the same. Until the first answer it is that of this machine.
 */
export function makeIssuerClock({ now = () => performance.now(), wallNow = Date.now } = {}) {
  /** How far it is ahead of `now`. */
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
