import { ipKeyGenerator } from 'express-rate-limit';
import { BatonError } from '../../../../shared/contract/errors.ts';
import { RATES } from '../../../../shared/contract/rates.ts';
import { IPV6_SUBNET_BITS } from '../../http/limits/address-limit.ts';
import { rateLimitHeaders, scaled } from '../../../../shared/service-kit/rate-limit-headers.ts';
import { makeCounts } from '../../http/limits/recent-counts.ts';
import { makeLanes } from '../../lanes.ts';

const GROUP = 'unknown_credential';
/** The most addresses counted in one window; two windows are kept. An address takes some 100 bytes. */
const MOST_COUNTED = 50_000;
/** A quarter of the connections that the broker's client has. */
const AT_ONCE = 16;
/** The most questions that wait behind them: all devices of a large office may return together. */
const MOST_WAITING = 2_000;
/** The same time as the broker has for an answer. */
const WAIT_MS = 2_000;

interface StrangerLimitParts {
  /** `APP_RATE_LIMIT_SCALE` */
  scale: number;
  /** For tests. */
  atOnce?: number;
  mostWaiting?: number;
  waitMs?: number;
  /** For tests. Milliseconds that only rise. */
  now?: () => number;
}

const isRefusal = (error: unknown): boolean => error instanceof BatonError && error.status < 500;

/**
 * Makes the limit on what one client address costs the auth broker by credentials that nobody has vouched for yet: on
 * refusals per minute and on questions at once. Good credentials are not counted, so that an office behind one address has
 * the same freedom as a single device.
 */
export function makeStrangerLimit(parts: StrangerLimitParts) {
  const {
    scale,
    atOnce = AT_ONCE,
    mostWaiting = MOST_WAITING,
    waitMs = WAIT_MS,
    now = () => performance.now(),
  } = parts;
  const windowMs = RATES[GROUP].windowSeconds * 1000;
  const limit = scale === 0 ? Number.POSITIVE_INFINITY : scaled(RATES[GROUP].limit, scale);
  const refusals = makeCounts({ most: MOST_COUNTED, windowMs });

  const tooMany = (resetSeconds: number): BatonError => {
    const headers = Number.isFinite(limit) ? rateLimitHeaders(GROUP, { limit, remaining: 0, resetSeconds }) : {};
    const detail = 'Too many unknown sessions were shown from this address';
    return new BatonError('rate_limited', detail, { headers, retryAfterSeconds: resetSeconds, rateGroup: GROUP });
  };

  const lanes = makeLanes(atOnce, { most: mostWaiting, ms: waitMs, refusal: () => tooMany(1) });

  /** Throws while one more refusal would exceed the limit: `limit` at once, then evenly over each window. */
  const check = (key: string): void => {
    const leftMs = refusals.get(key) + windowMs / limit - now() - windowMs;
    if (leftMs > 0) throw tooMany(leftMs / 1000);
  };

  const count = (key: string): void => {
    const nowMs = now();
    refusals.set(key, Math.max(refusals.get(key), nowMs) + windowMs / limit, nowMs);
  };

  return {
    /** Resolves to the answer of `verify`. Throws what `verify` throws, or `rate_limited` without calling it. */
    async ask<T>(address: string, verify: () => Promise<T>): Promise<T> {
      const key = ipKeyGenerator(address, IPV6_SUBNET_BITS);
      check(key);
      return lanes.run(key, () => {
        // Earlier questions may have been refused meanwhile.
        check(key);
        return verify().catch((error: unknown) => {
          if (isRefusal(error)) count(key);
          throw error;
        });
      });
    },
  };
}

export type StrangerLimit = ReturnType<typeof makeStrangerLimit>;
