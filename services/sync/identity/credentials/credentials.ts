import type { IncomingMessage } from 'node:http';

/** What a request shows of itself, in identity mode `broker`. */
export type Shown = { readonly access_token: string } | { readonly credential: string };

/**
 * `v1.<session id>.<256-bit secret>`, in whatever letters: what does not look like it, or is too short to hold 256 bits,
 * is not worth a question.
 */
const CREDENTIAL = /^v1\.[\w-]{1,128}\.[\w+/=-]{43,256}$/;
/** RFC 6750, section 2.1. */
const BEARER = /^Bearer +([\x21-\x7e]{1,4096})$/i;

/** Over https (CONTRACT.md, "The auth broker") the name that browsers let nobody but this very host set. */
export const sessionCookieName = (publicUrl: string): string =>
  publicUrl.startsWith('https:') ? '__Host-baton' : 'baton';

/** The one value that the request carries under this name; null without, and when somebody planted another. */
function cookieOf({ headers }: IncomingMessage, name: string): string | null {
  const pairs = (headers.cookie ?? '').split(';').map((pair) => pair.trim());
  const values = pairs.filter((pair) => pair.startsWith(`${name}=`)).map((pair) => pair.slice(name.length + 1));
  return values.length === 1 ? (values[0] ?? null) : null;
}

/** The session cookie alone; null without one, or with what is none. */
export function credentialOf(req: IncomingMessage, cookieName: string): string | null {
  const credential = cookieOf(req, cookieName);
  return credential !== null && CREDENTIAL.test(credential) ? credential : null;
}

/**
 * The access token where there is an `Authorization`: a native client may have an old cookie beside it; else the session
 * cookie. Null when there is neither, or none that could be one.
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
