import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A request as it arrived behind the edge, header names in lower case. */
export interface Reflection {
  readonly method: string;
  readonly url: string;
  readonly headers: readonly (readonly [string, string])[];
}

/** Returns the headers that a replica could take for an identity, in any spelling. */
export const identityIn = ({ headers }: Reflection): Record<string, string[]> => {
  const found: Record<string, string[]> = {};
  for (const [name, value] of headers) {
    if (!/^x[-_](auth|edge|dev)[-_]/.test(name) || value === '') continue;
    (found[name] ??= []).push(value);
  }
  return found;
};

/** Starts a server in the replica's place that answers every request with what it saw of it. */
export async function startMirror() {
  let last: Reflection | null = null;
  let serve = (req: IncomingMessage, res: ServerResponse): void => {
    const headers = req.rawHeaders.flatMap((text, i) =>
      i % 2 === 0 ? [[text.toLowerCase(), req.rawHeaders[i + 1] ?? ''] as const] : [],
    );
    const reflection: Reflection = { method: req.method ?? '', url: req.url ?? '', headers };
    last = reflection;
    req.resume().on('end', () => res.setHeader('Content-Type', 'application/json').end(JSON.stringify(reflection)));
  };
  const reflect = serve;
  const server = createServer((req, res) => serve(req, res));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    /** From now on, until `reflect()`, the test answers requests. */
    serveWith: (other: typeof serve) => void (serve = other),
    reflect: () => void (serve = reflect),
    /** Returns the latest request, because the answer to a HEAD cannot show it. */
    last: () => last,
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

export type Mirror = Awaited<ReturnType<typeof startMirror>>;
