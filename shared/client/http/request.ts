/** The address of the service. A function is called before every attempt, so that a retry can go to another replica. */
export type BaseUrl = string | (() => string);

/**
 * Headers for every request. A function is called before each attempt with its address, so that a renewed token is used at
 * once, and a token is not sent where it does not belong.
 */
export type HeaderSource = Readonly<Record<string, string>> | ((base: string) => SentHeaders | Promise<SentHeaders>);

type SentHeaders = Headers | Readonly<Record<string, string>>;

/** The part of `fetch` that is used. A replacement must honour `signal`, even while the body is read. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

export type Query = Readonly<Record<string, string | number | boolean | undefined>>;

/** Returns the address of this attempt. In a browser it may be empty: the page's own origin. */
export const baseOf = (base: BaseUrl): string => (typeof base === 'function' ? base() : base).replace(/\/+$/, '');

export function urlOf(base: string, path: string, query: Query = {}): string {
  const search = new URLSearchParams();
  for (const [key, value] of Object.entries(query)) if (value !== undefined) search.set(key, String(value));
  const text = search.toString();
  return text === '' ? base + path : `${base}${path}?${text}`;
}

export async function headersOf(source: HeaderSource | undefined, base: string): Promise<Headers> {
  return new Headers(typeof source === 'function' ? await source(base) : source);
}

/** Calls the platform's `fetch`. It is looked up at each call, because a page, or a test, may replace it later. */
export const platformFetch: Fetch = (url, init) => globalThis.fetch(url, init);
