import { BatonError } from '../contract/errors.ts';
import { RATES, type RateGroup } from '../contract/rates.ts';
import type { Route } from '../contract/vocabulary/route.ts';

/** Returns a limit multiplied by `APP_RATE_LIMIT_SCALE`, which must be above 0; at least one. */
export const scaled = (limit: number, scale: number): number => Math.max(1, Math.floor(limit * scale));

/** Returns how many requests a group allows in its window; null if `APP_RATE_LIMIT_SCALE` switches limits off. */
export const scaledLimit = (group: RateGroup, scale: number): number | null =>
  scale === 0 ? null : scaled(RATES[group].limit, scale);

/**
 * Returns the headers of draft-ietf-httpapi-ratelimit-headers-08 for a group that is counted by a module's script or in the
 * replica's memory, in the same form as express-rate-limit gives them for address groups.
 */
export const rateLimitHeaders = (
  group: RateGroup,
  { limit, remaining, resetSeconds }: { limit: number; remaining: number; resetSeconds: number },
): Record<string, string> => ({
  RateLimit: `"${group}"; r=${remaining}; t=${Math.max(0, Math.ceil(resetSeconds))}`,
  'RateLimit-Policy': `"${group}"; q=${limit}; w=${RATES[group].windowSeconds}`,
});

/** When to retry. In this time hundreds of an account's waiting requests are served. */
const RETRY_SECONDS = 1;

/** Returns the refusal of a request that cannot even wait. */
export function tooManyWaiting({ rate }: Pick<Route, 'rate'>): BatonError {
  const counts = (group: RateGroup) => ({ limit: RATES[group].limit, remaining: 0, resetSeconds: RETRY_SECONDS });
  return new BatonError('rate_limited', 'Too many requests of this account wait', {
    retryAfterSeconds: RETRY_SECONDS,
    ...(rate !== null && { headers: rateLimitHeaders(rate, counts(rate)) }),
  });
}
