import { BatonError } from '../../../../shared/contract/errors.ts';
import { RATES, type RateGroup } from '../../../../shared/contract/rates.ts';
import type { Route } from '../../../../shared/contract/vocabulary/route.ts';
import { makeCounts } from './recent-counts.ts';
import { rateLimitHeaders, scaled } from '../../../../shared/service-kit/rate-limit-headers.ts';

/** A group that counts accounts. */
type ReplicaGroup = {
  [G in RateGroup]: (typeof RATES)[G] extends { counted: 'replica'; accountLimit: number } ? G : never;
}[RateGroup];

const isReplicaGroup = (group: RateGroup): group is ReplicaGroup =>
  RATES[group].counted === 'replica' && 'accountLimit' in RATES[group];

/** Longest window of these groups. A caller that sends nothing for one window has a count of zero again. */
const WINDOW_MS =
  Math.max(...Object.values(RATES).map((rate) => (rate.counted === 'replica' ? rate.windowSeconds : 0))) * 1000;

/** Counts kept of one window, about 100 bytes each. Two windows are kept. */
const MOST = 50_000;

/** Tolerance, so that rounding costs no caller the last request of its limit. */
const EPSILON_MS = 0.001;

interface ReplicaLimitParts {
  /** `APP_RATE_LIMIT_SCALE` */
  scale: number;
  /** For tests. */
  most?: number;
  /** For tests. Milliseconds that only rise. */
  now?: () => number;
}

/**
 * Makes the limits that bound what one account costs this replica. They are counted in memory, without the store: `limit`
 * requests at once, then as many again evenly over each window (the generic cell rate algorithm, which keeps one number).
 * Each replica allows the full limit. A request counts for device and account, or for neither if one refuses.
 */
export function makeReplicaLimits({ scale, most = MOST, now = () => performance.now() }: ReplicaLimitParts) {
  const counts = makeCounts({ most, windowMs: WINDOW_MS });

  /** Returns the bucket's value with one more request. Throws `rate_limited` when the bucket is full. */
  const next = (group: ReplicaGroup, key: string, limit: number, nowMs: number): number => {
    const windowMs = RATES[group].windowSeconds * 1000;
    const fullAtMs = Math.max(counts.get(key), nowMs) + windowMs / limit;
    const waitMs = fullAtMs - nowMs - windowMs;
    if (waitMs <= EPSILON_MS) return fullAtMs;
    const resetSeconds = waitMs / 1000;
    const headers = rateLimitHeaders(group, { limit, remaining: 0, resetSeconds });
    throw new BatonError('rate_limited', undefined, { headers, retryAfterSeconds: resetSeconds });
  };

  return {
    /** Throws `rate_limited` when the caller has sent too many requests of the route's group. Takes under a microsecond. */
    check({ rate }: Pick<Route, 'rate'>, { account, deviceId }: { account: string; deviceId: string | null }): void {
      if (scale === 0 || rate === null || !isReplicaGroup(rate)) return;
      const nowMs = now();
      const { limit, accountLimit } = RATES[rate];
      // Neither an account, which is percent-encoded, nor a device id has a space in it.
      const ofAccount = `${rate} ${account}`;
      const ofDevice = deviceId === null ? null : `${ofAccount} ${deviceId}`;
      const device = ofDevice === null ? 0 : next(rate, ofDevice, scaled(limit, scale), nowMs);
      const whole = next(rate, ofAccount, scaled(accountLimit, scale), nowMs);
      if (ofDevice !== null) counts.set(ofDevice, device, nowMs);
      counts.set(ofAccount, whole, nowMs);
    },
    get size(): number {
      return counts.size;
    },
  };
}

export type ReplicaLimits = ReturnType<typeof makeReplicaLimits>;
