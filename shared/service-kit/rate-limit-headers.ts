import { BatonError } from '../contract/errors.ts';
import { RATES, type RateGroup } from '../contract/rates.ts';
import type { Route } from '../contract/vocabulary/route.ts';

/** A limit under `APP_RATE_LIMIT_SCALE`, above 0: at least one. */
export const scaled = (limit: number, scale: number): number => Math.max(1, Math.floor(limit * scale));

/** How many requests a group allows in its window; null when `APP_RATE_LIMIT_SCALE` switches limits off. */
export const scaledLimit = (group: RateGroup, scale: number): number | null =>
  scale === 0 ? null : scaled(RATES[group].limit, scale);

/**
 * The headers of draft-ietf-httpapi-ratelimit-headers-08 for a group that is counted by a module's script or in the
 * replica's memory, in the form that express-rate-limit gives those of address groups.
 */
export const rateLimitHeaders = (
  group: RateGroup,
  { limit, remaining, resetSeconds }: { limit: number; remaining: number; resetSeconds: number },
): Record<string, string> => ({
  RateLimit: `"${group}"; r=${remaining}; t=${Math.max(0, Math.ceil(resetSeconds))}`,
  'RateLimit-Policy': `"${group}"; q=${limit}; w=${RATES[group].windowSeconds}`,
});

/** A line of an account gets shorter by hundreds in so long. */
const RETRY_SECONDS = 1;

/** The refusal of a request that cannot even wait. */
export function tooManyWaiting({ rate }: Pick<Route, 'rate'>): BatonError {
  const counts = (group: RateGroup) => ({ limit: RATES[group].limit, remaining: 0, resetSeconds: RETRY_SECONDS });
  return new BatonError('rate_limited', 'Too many requests of this account wait', {
    retryAfterSeconds: RETRY_SECONDS,
    ...(rate !== null && { headers: rateLimitHeaders(rate, counts(rate)) }),
  });
}
