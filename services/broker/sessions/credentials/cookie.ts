import type { IncomingMessage } from 'node:http';

interface CookieForm {
  readonly name: string;
  readonly secure: boolean;
}

/**
 * Returns the form of a cookie. Over https its name has the prefix that browsers let only this host set (RFC 6265bis,
 * section 4.1.3.2). Over http, which is for localhost, they would refuse that prefix.
 */
export function cookieForm(publicUrl: string, name = 'baton'): CookieForm {
  const secure = publicUrl.startsWith('https:');
  return { name: secure ? `__Host-${name}` : name, secure };
}

/** Returns a `Set-Cookie`. With `maxAgeSeconds` null it lasts until the browser closes. Values here need no quoting. */
export const setCookie = ({ name, secure }: CookieForm, value: string, maxAgeSeconds: number | null): string =>
  [
    `${name}=${value}`,
    'Path=/',
    ...(maxAgeSeconds === null ? [] : [`Max-Age=${maxAgeSeconds}`]),
    'HttpOnly',
    ...(secure ? ['Secure'] : []),
    'SameSite=Lax',
  ].join('; ');

/** Returns every value that the request carries under this name. More than one means that somebody else planted one. */
export function cookiesNamed({ headers }: IncomingMessage, name: string): string[] {
  const pairs = (headers.cookie ?? '').split(';').map((pair) => pair.trim());
  return pairs.filter((pair) => pair.startsWith(`${name}=`)).map((pair) => pair.slice(name.length + 1));
}
