import { request, type WireAnswer } from '../../support/wire.ts';

/** A cookie as it was set: its value, and its attributes in lower case, sorted. */
interface SetCookie {
  value: string;
  attributes: string[];
}

/**
 * Handles cookies and redirects as a browser does, for one host whatever the port. It goes step by step, and follows
 * nothing by itself.
 */
export function makeBrowser() {
  const jar = new Map<string, string>();
  const set = new Map<string, SetCookie>();

  function take(answer: WireAnswer): void {
    for (const text of answer.headers['set-cookie'] ?? []) {
      const [pair = '', ...attributes] = text.split(';').map((part) => part.trim());
      const [name = '', ...rest] = pair.split('=');
      const value = rest.join('=');
      set.set(name, { value, attributes: attributes.map((attribute) => attribute.toLowerCase()).sort() });
      if (attributes.some((attribute) => /^max-age=0$/i.test(attribute))) jar.delete(name);
      else jar.set(name, value);
    }
  }

  const send = async (url: string, options: { method?: string; headers?: Record<string, string>; body?: Buffer }) => {
    const { origin, pathname, search } = new URL(url);
    const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ');
    const headers = { ...(cookie !== '' && { Cookie: cookie }), ...options.headers };
    const answer = await request({ url: origin }, { ...options, path: pathname + search, headers });
    take(answer);
    return answer;
  };

  return {
    jar,
    /** The last `Set-Cookie` of each name. */
    set,
    go: (url: string) => send(url, {}),
    submit: (url: string, fields: Record<string, string>, headers: Record<string, string> = {}) =>
      send(url, {
        method: 'POST',
        headers: { 'Content-Type': 'application/x-www-form-urlencoded', ...headers },
        body: Buffer.from(new URLSearchParams(fields).toString()),
      }),
  };
}

export type Browser = ReturnType<typeof makeBrowser>;

/** Returns where an answer redirects to. Throws when it does not redirect. */
export function locationOf(answer: WireAnswer): string {
  const { location } = answer.headers;
  if (location === undefined) throw new Error(`${answer.status} is no redirect: ${answer.text}`);
  return location;
}
