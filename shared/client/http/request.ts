/** Where the service is. A function is asked before every attempt, so that a retry can go to another replica. */
export type BaseUrl = string | (() => string);

/** Headers for every request, asked before each attempt: a token renewed in between is used at once. */
export type HeaderSource =
  | Readonly<Record<string, string>>
  | (() => Readonly<Record<string, string>> | Promise<Readonly<Record<string, string>>>);

/** The part of `fetch` that is used. An own one must honour `signal`, while the body is read too. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

type Query = Readonly<Record<string, string | number | boolean | undefined>>;

/** In a browser the base may be empty: the page's own origin. */
export function urlOf(base: BaseUrl, path: string, query: Query = {}): string {
  const origin = (typeof base === 'function' ? base() : base).replace(/\/+$/, '');
  const search = new URLSearchParams();
  for (const [key, value] of Object.entries(query)) if (value !== undefined) search.set(key, String(value));
  const text = search.toString();
  return text === '' ? origin + path : `${origin}${path}?${text}`;
}

export async function headersOf(source: HeaderSource | undefined): Promise<Headers> {
  return new Headers({ ...(typeof source === 'function' ? await source() : source) });
}

/** Looked up at each call: a page, or a test, may put another in its place later. */
export const platformFetch: Fetch = (url, init) => globalThis.fetch(url, init);
