import { isIP } from 'node:net';
import { withoutUserInfo } from '../../../../shared/service-kit/config/kinds.ts';

/**
 * Which hosts web push may go to, from `APP_PUSH_ENDPOINTS`. Entries: `known` (the push services of the browsers), `public`
 * (any host on port 443 whose addresses are all public), or `host[:port]`, which is trusted as it stands: any address,
 * any port, but https still. Entries add up.
 */
export interface EndpointRules {
  readonly allow: readonly string[];
}

/** The push services of Chrome, Edge and other Chromium browsers, Firefox, Safari. A leading dot stands for any sub-domain. */
const KNOWN_HOSTS = ['fcm.googleapis.com', '.push.services.mozilla.com', '.push.apple.com', '.notify.windows.com'];

/** Names that never lead to a host of the public internet (RFC 6761, RFC 6762, RFC 8375, RFC 9476) or by custom do not. */
const LOCAL_TOP_LEVELS = new Set(
  'alt arpa corp example home internal intranet invalid lan local localdomain localhost onion private test'.split(' '),
);

/** Letters, digits and hyphens, at least two labels (RFC 1123, section 2.1). */
const HOST_NAME = /^(?=.{1,253}$)([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z][a-z0-9-]{0,61}[a-z0-9]$/;

/** `host` and `port` of an entry in the spelling of a parsed URL; null when it is none. */
function trustedHost(entry: string): string | null {
  if (!/^[\w.:[\]-]+$/.test(entry) || !URL.canParse(`https://${entry}`)) return null;
  return new URL(`https://${entry}`).host;
}

/** Reads the text of `APP_PUSH_ENDPOINTS`: the rules, or what is wrong as the end of the sentence "<KEY> ...". */
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

/** Whether nobody vouches for a host (of a parsed URL, with its port): it may be there under `public` alone. */
export const isStranger = (host: string, rules: EndpointRules): boolean => !isTrusted(host, rules) && !isKnown(host);

/** Whether the operator named this very host and port (of a parsed URL; no port means 443). */
export const isTrusted = (host: string, { allow }: EndpointRules): boolean =>
  allow.some((entry) => entry !== 'known' && entry !== 'public' && trustedHost(entry) === host);

/** Whether a name that the operator did not list, lower case and without port, may be a push service. */
export function isAllowedName(name: string, { allow }: EndpointRules): boolean {
  if (isIP(name) !== 0 || !HOST_NAME.test(name)) return false;
  if (LOCAL_TOP_LEVELS.has(name.slice(name.lastIndexOf('.') + 1))) return false;
  return allow.includes('public') || (isKnown(name) && allow.includes('known'));
}
