import {
  hostsOf,
  isOpenHttp,
  listensOnLoopback,
  passwordsOf,
  refusePublished,
} from '../../../shared/service-kit/config/rules.ts';
import type { Key, Values } from './settings.ts';

/*
 * Who can reach a replica, and what its configuration must provide for that.
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

export function checkProduction(values: Values, report: (key: Key, message: string) => void): void {
  if (isOpenHttp(values.APP_PUBLIC_URL)) report('APP_PUBLIC_URL', 'must be https in production, but for localhost');
  if (values.APP_PUBLIC_ORIGINS?.some(isOpenHttp)) {
    report('APP_PUBLIC_ORIGINS', 'must be https in production, but for localhost');
  }
  refusePublished(secretsOf(values), report);
}

/**
 * Returns warnings about settings with which the process still starts. A replica speaks no TLS, so if its address is https,
 * it has a proxy in front.
 */
export function exposureWarnings(values: Values): string[] {
  const { APP_IDENTITY: mode, APP_TRUSTED_PROXIES: proxies, APP_PUBLIC_URL: url, NODE_ENV: env } = values;
  const isBehindProxy = mode === 'edge' || (env === 'production' && url?.startsWith('https:') === true);
  return isBehindProxy && proxies === null ? [`without APP_TRUSTED_PROXIES ${SHARED_BUCKET}`] : [];
}

/**
 * Returns the host names that requests may use, besides those of loopback; null allows any. A page of another site can
 * point its own name to this machine (DNS rebinding), and is then same-origin with whatever listens here. If everybody
 * on this machine is let in, only the name of the host distinguishes the requests of such a page.
 */
export function allowedHostsOf(
  { APP_IDENTITY: mode, NODE_ENV: env }: Values,
  { host, origins }: { host: string; origins: readonly string[] },
): string[] | null {
  const isOpen = mode === 'dev' || (mode === 'broker' && env !== 'production');
  return isOpen && listensOnLoopback(host) ? hostsOf(...origins) : null;
}
