import { RATES, type RateGroup } from '../../../shared/contract/rates.ts';
import { ROUTES, type RouteName } from '../../../shared/contract/routes.ts';

interface Rate {
  by: string;
  limit: number;
  windowSeconds: number;
  /** The limit of all devices of an account together. */
  accountLimit?: number;
}

/** Returns the limits of a route's group; null if it has none. */
export function rateOf(route: RouteName): Rate | null {
  const group: RateGroup | null = ROUTES[route].rate;
  return group === null ? null : RATES[group];
}

/**
 * Returns how many requests a second the limit allows to this many devices of one account at one address; null: no
 * limit.
 */
export function allowedPerSecond(route: RouteName, devices: number): number | null {
  const rate = rateOf(route);
  if (rate === null) return null;
  const ofAll = rate.by === 'device' ? rate.limit * devices : rate.limit;
  return Math.min(ofAll, rate.accountLimit ?? ofAll) / rate.windowSeconds;
}
