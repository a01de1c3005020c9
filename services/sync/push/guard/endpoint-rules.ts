import { isIP } from 'node:net';
import { withoutUserInfo } from '../../../../shared/service-kit/config/kinds.ts';

/**
 * The hosts that web push may go to, from `APP_PUSH_ENDPOINTS`. An entry is `known` (the push services of the browsers),
 * `public` (any host on port 443 whose addresses are all public), or `host[:port]`, which is trusted with any address and
 * on any port, but only over https. One matching entry is enough.
 */
export interface EndpointRules {
  readonly allow: readonly string[];
}

/**
 * The push services of Chrome, of its Beta, Dev and Canary and of Chromium, of Firefox, Safari and Edge. A leading dot means
 * any subdomain.
 */
const KNOWN_HOSTS = [
  ...['fcm.googleapis.com', 'jmt17.google.com'],
  ...['.push.services.mozilla.com', '.push.apple.com', '.notify.windows.com'],
];

/** Names that by RFC 6761, RFC 6762, RFC 8375 or RFC 9476, or by custom, never lead to a host of the public internet. */
const LOCAL_TOP_LEVELS = new Set(
  'alt arpa corp example home internal intranet invalid lan local localdomain localhost onion private test'.split(' '),
);

/** Letters, digits and hyphens, at least two labels (RFC 1123, section 2.1). */
const HOST_NAME = /^(?=.{1,253}$)([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z][a-z0-9-]{0,61}[a-z0-9]$/;

/** Returns host and port of an entry in the spelling of a parsed URL, or null when the entry is not a host. */
function trustedHost(entry: string): string | null {
  if (!/^[\w.:[\]-]+$/.test(entry) || !URL.canParse(`https://${entry}`)) return null;
  return new URL(`https://${entry}`).host;
}

/** Parses the text of `APP_PUSH_ENDPOINTS` into the rules, or into the problem as the end of the sentence "<KEY> ...". */
export function parseEndpointRules(text: string): { value: EndpointRules } | { problem: string } {
  const allow = text.split(',').map((entry) => entry.trim());
  const wrong = allow.filter((entry) => trustedHost(entry) === null);
  return wrong.length === 0
    ? { value: { allow } }
    : {
        problem: `must be known, public or comma-separated host[:port]; not one: ${wrong.map(withoutUserInfo).join(', ')}`,
      };
}

const isKnown = (name: string): boolean =>
  KNOWN_HOSTS.some((known) => (known.startsWith('.') ? name.endsWith(known) : name === known));

/** Returns whether a host (of a parsed URL, with its port) is neither listed nor known, so only `public` can allow it. */
export const isStranger = (host: string, rules: EndpointRules): boolean => !isTrusted(host, rules) && !isKnown(host);

/** Returns whether the operator listed exactly this host and port (of a parsed URL; no port means 443). */
export const isTrusted = (host: string, { allow }: EndpointRules): boolean =>
  allow.some((entry) => entry !== 'known' && entry !== 'public' && trustedHost(entry) === host);

/** Returns whether a name that the operator did not list (in lower case, without port) may be a push service. */
export function isAllowedName(name: string, { allow }: EndpointRules): boolean {
  if (isIP(name) !== 0 || !HOST_NAME.test(name)) return false;
  if (LOCAL_TOP_LEVELS.has(name.slice(name.lastIndexOf('.') + 1))) return false;
  return allow.includes('public') || (isKnown(name) && allow.includes('known'));
}
