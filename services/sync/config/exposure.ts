import {
  hostsOf,
  isOpenHttp,
  listensOnLoopback,
  passwordsOf,
  refusePublished,
} from '../../../shared/service-kit/config/rules.ts';
import type { Key, Values } from './settings.ts';

/*
 * Who can reach a replica, and what that asks of its configuration.
 */

const SHARED_BUCKET = 'all clients have the address of the edge, and share one rate limit';

const secretsOf = (values: Values): [Key, readonly (string | null)[]][] => [
  ['APP_EDGE_SECRET', values.APP_EDGE_SECRET ?? []],
  ['APP_BROKER_TOKEN', [values.APP_BROKER_TOKEN]],
  ['APP_TURN_SECRET', [values.APP_TURN_SECRET]],
  ['APP_REDIS_URL', passwordsOf(values.APP_REDIS_URL)],
  ['APP_RELAY_REDIS_URL', passwordsOf(values.APP_RELAY_REDIS_URL)],
  ['APP_REDIS_PASSWORD', [values.APP_REDIS_PASSWORD]],
  ['APP_REDIS_SENTINEL_PASSWORD', [values.APP_REDIS_SENTINEL_PASSWORD]],
  ['APP_RELAY_REDIS_PASSWORD', [values.APP_RELAY_REDIS_PASSWORD]],
  ['APP_RELAY_REDIS_SENTINEL_PASSWORD', [values.APP_RELAY_REDIS_SENTINEL_PASSWORD]],
];

/** What production refuses. */
export function checkProduction(values: Values, report: (key: Key, message: string) => void): void {
  if (isOpenHttp(values.APP_PUBLIC_URL)) report('APP_PUBLIC_URL', 'must be https in production, but for localhost');
  if (values.APP_PUBLIC_ORIGINS?.some(isOpenHttp)) {
    report('APP_PUBLIC_ORIGINS', 'must be https in production, but for localhost');
  }
  refusePublished(secretsOf(values), report);
}

/** What is worth a word although the process starts. */
export function exposureWarnings({ APP_IDENTITY: mode, APP_TRUSTED_PROXIES: proxies }: Values): string[] {
  return mode === 'edge' && proxies === null ? [`without APP_TRUSTED_PROXIES ${SHARED_BUCKET}`] : [];
}

/**
 * The host names that requests may ask for, beside those of loopback; null: any. A page of another site can make its own
 * name an address of this machine (DNS rebinding), and is then of one origin with whatever listens here: where nothing
 * but being on this machine lets somebody in, its name is what gives it away.
 */
export function allowedHostsOf(
  { APP_IDENTITY: mode, NODE_ENV: env }: Values,
  { host, origins }: { host: string; origins: readonly string[] },
): string[] | null {
  const isOpen = mode === 'dev' || (mode === 'broker' && env !== 'production');
  return isOpen && listensOnLoopback(host) ? hostsOf(...origins) : null;
}
