/** A request that the client made, and its answer. */
export interface Asked {
  readonly path: string;
  readonly headers: Headers;
  readonly body: unknown;
}

type Answer = { status?: number; body?: unknown; headers?: Record<string, string> } | Response;

/** Makes a `fetch` that a function answers, and keeps everything that was asked of it. */
export function fakeService(answer: (asked: Asked) => Answer | Promise<Answer>) {
  const asked: Asked[] = [];
  return {
    asked,
    async fetch(url: string, init: RequestInit): Promise<Response> {
      const { pathname } = new URL(url);
      const body = typeof init.body === 'string' ? (JSON.parse(init.body) as unknown) : null;
      const one = { path: pathname, headers: new Headers(init.headers), body };
      asked.push(one);
      const given = await answer(one);
      if (given instanceof Response) return given;
      const { status = 200, headers } = given;
      const type = status < 400 ? 'application/json' : 'application/problem+json';
      return new Response(given.body === undefined ? null : JSON.stringify(given.body), {
        status,
        headers: { 'Content-Type': type, ...headers },
      });
    },
  };
}
