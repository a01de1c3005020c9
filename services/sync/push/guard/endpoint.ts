import { createECDH } from 'node:crypto';
import { type EndpointRules, isAllowedName, isTrusted } from './endpoint-rules.ts';

/** Those of the browsers have 150 to 700 characters. */
const MOST_CHARACTERS = 1_024;
const SCHEME = 'https://';

/**
 * Why an endpoint that a browser sent may not be stored, in one word, or null when it may. Endpoints are addresses that
 * anybody can make this service connect to, so only one spelling passes: what was sent must name the host exactly as the
 * parser understood it. That excludes user info, escapes, backslashes, other digits or other notations of an
 * address. What the name resolves to is judged when it is connected to.
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

/** Whether the keys of a subscription are fit for RFC 8291: an uncompressed point on P-256, and 16 bytes. */
export function checkKeys(p256dh: string, auth: string): boolean {
  const point = bytesOf(p256dh);
  if (point.length !== 65 || point[0] !== 4 || bytesOf(auth).length !== 16) return false;
  const own = createECDH('prime256v1');
  own.generateKeys();
  try {
    // Refuses what is not on the curve, which would give away parts of a key that is used more than once.
    own.computeSecret(point);
    return true;
  } catch {
    return false;
  }
}
