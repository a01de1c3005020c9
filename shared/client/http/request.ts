/** Where the service is. A function is asked before every attempt, so that a retry can go to another replica. */
export type BaseUrl = string | (() => string);

/**
 * Headers for every request, asked before each attempt, with where it goes: a token renewed in between is used at once, and one
 * that does not belong there is not sent.
 */
export type HeaderSource =
  | Readonly<Record<string, string>>
  | ((base: string) => Readonly<Record<string, string>> | Promise<Readonly<Record<string, string>>>);

/** The part of `fetch` that is used. An own one must honour `signal`, while the body is read too. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

export type Query = Readonly<Record<string, string | number | boolean | undefined>>;

/** Where this attempt goes. In a browser it may be empty: the page's own origin. */
export const baseOf = (base: BaseUrl): string => (typeof base === 'function' ? base() : base).replace(/\/+$/, '');

export function urlOf(base: string, path: string, query: Query = {}): string {
  const search = new URLSearchParams();
  for (const [key, value] of Object.entries(query)) if (value !== undefined) search.set(key, String(value));
  const text = search.toString();
  return text === '' ? base + path : `${base}${path}?${text}`;
}

export async function headersOf(source: HeaderSource | undefined, base: string): Promise<Headers> {
  return new Headers({ ...(typeof source === 'function' ? await source(base) : source) });
}

/** Looked up at each call: a page, or a test, may put another in its place later. */
export const platformFetch: Fetch = (url, init) => globalThis.fetch(url, init);
