import type { IncomingMessage } from 'node:http';

/** The credential that a request carries, in identity mode `broker`. */
export type Shown = { readonly access_token: string } | { readonly credential: string };

/**
 * `v1.<session id>.<256-bit secret>`, in any base64 alphabet. A text of another form, or too short to hold 256 bits, is
 * not worth asking the broker about.
 */
const CREDENTIAL = /^v1\.[\w-]{1,128}\.[\w+/=-]{43,256}$/;
/** RFC 6750, section 2.1. */
const BEARER = /^Bearer +([\x21-\x7e]{1,4096})$/i;

/** Returns the cookie's name (CONTRACT.md, "The auth broker"): over https one that browsers let only this host set. */
export const sessionCookieName = (publicUrl: string): string =>
  publicUrl.startsWith('https:') ? '__Host-baton' : 'baton';

/** Returns the one value that the request carries under this name; null for none, or if somebody planted a second one. */
function cookieOf({ headers }: IncomingMessage, name: string): string | null {
  const pairs = (headers.cookie ?? '').split(';').map((pair) => pair.trim());
  const values = pairs.filter((pair) => pair.startsWith(`${name}=`)).map((pair) => pair.slice(name.length + 1));
  return values.length === 1 ? (values[0] ?? null) : null;
}

/** Returns the session cookie; null if there is none or it is not a credential. */
export function credentialOf(req: IncomingMessage, cookieName: string): string | null {
  const credential = cookieOf(req, cookieName);
  return credential !== null && CREDENTIAL.test(credential) ? credential : null;
}

/**
 * Returns the access token if there is an `Authorization`, because a native client may send an old cookie beside it; else
 * the session cookie. Null if there is neither, or if it has the wrong form.
 */
export function shownBy(req: IncomingMessage, cookieName: string): Shown | null {
  const authorization = req.headersDistinct['authorization'];
  if (authorization !== undefined) {
    const [, token] = (authorization.length === 1 ? BEARER.exec(authorization[0] ?? '') : null) ?? [];
    return token === undefined ? null : { access_token: token };
  }
  const credential = credentialOf(req, cookieName);
  return credential === null ? null : { credential };
}
