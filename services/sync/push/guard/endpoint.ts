import { createECDH } from 'node:crypto';
import { type EndpointRules, isAllowedName, isTrusted } from './endpoint-rules.ts';

/** Endpoints of browsers have 150 to 700 characters. */
const MOST_CHARACTERS = 1_024;
const SCHEME = 'https://';

/**
 * Returns in one word why an endpoint that a browser sent may not be stored, or null when it may. Anybody can make this
 * service connect to an endpoint, so only one spelling passes: the text must name the host exactly as the parser
 * understood it. That excludes user info, escapes, backslashes, other digits and other notations of an address. The
 * addresses of the name are judged at connect.
 */
export function checkEndpoint(endpoint: string, rules: EndpointRules): string | null {
  if (endpoint.length > MOST_CHARACTERS) return 'too_long';
  if (!/^[\x21-\x7e]+$/.test(endpoint)) return 'not_ascii';
  if (!endpoint.startsWith(SCHEME)) return 'not_https';
  const url = URL.canParse(endpoint) ? new URL(endpoint) : null;
  if (url === null || url.protocol !== 'https:') return 'not_a_url';
  if (url.username !== '' || url.password !== '') return 'user_info';
  if (endpoint.includes('#')) return 'fragment';
  const written = /^[^/?]*/.exec(endpoint.slice(SCHEME.length))?.[0] ?? '';
  if (![url.host, `${url.hostname}:443`].includes(written)) return 'odd_spelling';
  if (isTrusted(url.host, rules)) return null;
  if (url.port !== '') return 'port';
  return isAllowedName(url.hostname, rules) ? null : 'host';
}

const bytesOf = (text: string): Buffer => Buffer.from(/^[\w-]*={0,2}$/.test(text) ? text : '', 'base64url');

/** Returns whether the keys of a subscription suit RFC 8291: an uncompressed point on P-256, and 16 bytes. */
export function checkKeys(p256dh: string, auth: string): boolean {
  const point = bytesOf(p256dh);
  if (point.length !== 65 || point[0] !== 4 || bytesOf(auth).length !== 16) return false;
  const own = createECDH('prime256v1');
  own.generateKeys();
  try {
    // Throws for a point that is not on the curve: such a point would reveal parts of a key that is used more than once.
    own.computeSecret(point);
    return true;
  } catch {
    return false;
  }
}
