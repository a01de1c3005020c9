import http from 'node:http';
import { Readable } from 'node:stream';
import { connectToPort } from './servers.ts';
import { here } from './world.ts';
import { nameOfBytes } from './event-log.ts';

/** The statuses of answers without a body. */
const EMPTY = new Set([204, 205, 304]);

/** Acts as `fetch` within a simulation: one connection for each request, to a port of this simulation. */
export function fetchHere(url: string, { method = 'GET', headers, body, signal }: RequestInit = {}): Promise<Response> {
  const at = here();
  if (at === undefined) throw new Error('a simulated request outside of a simulation');
  const { world } = at;
  const { hostname, port, pathname, search } = new URL(url);
  const sent = Object.fromEntries(new Headers(headers));
  const text = typeof body === 'string' || body instanceof Uint8Array ? body : '';
  const what = `${method} ${pathname} at ${port} for ${sent['x-dev-device']}`;
  world.note('http', what, nameOfBytes(text));
  return new Promise((resolve, reject) => {
    const fail = (error: unknown): void => {
      world.note('http', what, 'failed');
      reject(new TypeError('fetch failed', { cause: error }));
    };
    const path = `${pathname}${search}`;
    const createConnection = () => connectToPort(world, Number(port)) as never;
    const request = http.request({ host: hostname, port, method, path, headers: sent, createConnection }, (answer) => {
      const { statusCode: status = 0 } = answer;
      world.note('http', what, status);
      const entries = Object.entries(answer.headers).map(([name, value]): [string, string] => [name, String(value)]);
      const stream = EMPTY.has(status) ? null : (Readable.toWeb(answer) as ReadableStream);
      if (stream === null) answer.resume();
      resolve(new Response(stream, { status, headers: entries }));
    });
    request.on('error', fail);
    const abort = () => request.destroy();
    if (signal?.aborted) abort();
    signal?.addEventListener('abort', abort, { once: true });
    request.end(text);
  });
}
