import type { IncomingMessage } from 'node:http';

interface CookieForm {
  readonly name: string;
  readonly secure: boolean;
}

/**
 * The session cookie over https has the prefix that browsers let nobody but this very host set (RFC 6265bis, section
 * 4.1.3.2). Over http, which is for localhost, they would not take it.
 */
export function cookieForm(publicUrl: string, name = 'baton'): CookieForm {
  const secure = publicUrl.startsWith('https:');
  return { name: secure ? `__Host-${name}` : name, secure };
}

/** `Set-Cookie`. Without `maxAgeSeconds` it lasts until the browser is closed. Values need no quoting here. */
export const setCookie = ({ name, secure }: CookieForm, value: string, maxAgeSeconds: number | null): string =>
  [
    `${name}=${value}`,
    'Path=/',
    ...(maxAgeSeconds === null ? [] : [`Max-Age=${maxAgeSeconds}`]),
    'HttpOnly',
    ...(secure ? ['Secure'] : []),
    'SameSite=Lax',
  ].join('; ');

/** Every value that the request carries under this name: more than one means that somebody else planted one. */
export function cookiesNamed({ headers }: IncomingMessage, name: string): string[] {
  const pairs = (headers.cookie ?? '').split(';').map((pair) => pair.trim());
  return pairs.filter((pair) => pair.startsWith(`${name}=`)).map((pair) => pair.slice(name.length + 1));
}
