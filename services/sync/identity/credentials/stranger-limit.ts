import { ipKeyGenerator } from 'express-rate-limit';
import { BatonError } from '../../../../shared/contract/errors.ts';
import { RATES } from '../../../../shared/contract/rates.ts';
import { IPV6_SUBNET_BITS } from '../../http/limits/address-limit.ts';
import { rateLimitHeaders, scaled } from '../../../../shared/service-kit/rate-limit-headers.ts';
import { makeCounts } from '../../http/limits/recent-counts.ts';
import { makeConcurrencyLimit } from './concurrency-limit.ts';

const GROUP = 'unknown_credential';
/** Addresses that are counted in one window; two windows are kept. Some 100 bytes each. */
const MOST_COUNTED = 50_000;
/** A quarter of the connections that the broker's client has. */
const AT_ONCE = 16;
/** What waits behind them for the broker: all devices of a large office that come back together. */
const MOST_WAITING = 2_000;
/** As long as the broker has for an answer. */
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
 * Bounds what one client address costs the auth broker by credentials that nobody has vouched for yet: so many refused
 * ones a minute, and so many questions at once. Good ones count for nothing, so that an office behind one address is as
 * free as a single device.
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
  const queue = makeConcurrencyLimit({ atOnce, mostWaiting, waitMs });

  const tooMany = (resetSeconds: number): BatonError => {
    const headers = Number.isFinite(limit) ? rateLimitHeaders(GROUP, { limit, remaining: 0, resetSeconds }) : {};
    const detail = 'Too many unknown sessions were shown from this address';
    return new BatonError('rate_limited', detail, { headers, retryAfterSeconds: resetSeconds, rateGroup: GROUP });
  };

  /** Throws while one more refusal would be above the limit: so many at once, then evenly over each window. */
  const check = (key: string): void => {
    const leftMs = refusals.get(key) + windowMs / limit - now() - windowMs;
    if (leftMs > 0) throw tooMany(leftMs / 1000);
  };

  const count = (key: string): void => {
    const nowMs = now();
    refusals.set(key, Math.max(refusals.get(key), nowMs) + windowMs / limit, nowMs);
  };

  return {
    /** What `verify` says. Throws what it throws, and `rate_limited` without having called it. */
    async ask<T>(address: string, verify: () => Promise<T>): Promise<T> {
      const key = ipKeyGenerator(address, IPV6_SUBNET_BITS);
      check(key);
      const leave = await queue.enter(key);
      if (leave === null) throw tooMany(1);
      try {
        // Those before it may have been refused meanwhile.
        check(key);
        return await verify().catch((error: unknown) => {
          if (isRefusal(error)) count(key);
          throw error;
        });
      } finally {
        leave();
      }
    },
  };
}

export type StrangerLimit = ReturnType<typeof makeStrangerLimit>;
