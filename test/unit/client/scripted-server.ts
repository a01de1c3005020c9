import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { makeInbox } from '../../support/stream-recorder.ts';

/** One request that arrived, and the test's side of the conversation. */
export interface Exchange {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  /** Resolves when the connection is gone, whoever closed it. */
  readonly gone: Promise<void>;
  /** Begins an answer and leaves its end open. It is an event stream unless told otherwise. */
  accept(status?: number): void;
  send(name: string, data: unknown, id?: string): void;
  /** Resolves when the bytes have been handed to the system. */
  write(bytes: string | Uint8Array): Promise<void>;
  end(): void;
  /** Cuts the connection. */
  destroy(): void;
  answer(status: number, body?: unknown, headers?: Record<string, string>): void;
}

export interface ScriptedServer {
  readonly baseUrl: string;
  /** Every request so far. */
  readonly exchanges: readonly Exchange[];
  /** Resolves to the next request. */
  next(): Promise<Exchange>;
  stop(): Promise<void>;
}

/** An HTTP server on loopback. The test writes every answer by hand. */
export async function startScriptedServer(): Promise<ScriptedServer> {
  const inbox = makeInbox<Exchange>(({ method, url }) => `${method} ${url}`);
  const server = createServer((req, res) => {
    const parts: Buffer[] = [];
    req.on('data', (part: Buffer) => parts.push(part));
    req.on('error', () => res.destroy());
    req.on('end', () => {
      const { method = '', url = '', headers } = req;
      inbox.push({ method, url, headers, body: Buffer.concat(parts).toString(), ...answering(res) });
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    exchanges: inbox.all,
    next: () => inbox.next(),
    async stop() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

function answering(res: ServerResponse): Omit<Exchange, 'method' | 'url' | 'headers' | 'body'> {
  const gone = new Promise<void>((resolve) => {
    res.on('close', resolve);
  });
  return {
    gone,
    accept(status = 200) {
      res.writeHead(status, { 'Content-Type': 'text/event-stream' });
      res.flushHeaders();
    },
    send(name, data, id) {
      res.write(`event: ${name}\n${id === undefined ? '' : `id: ${id}\n`}data: ${JSON.stringify(data)}\n\n`);
    },
    write(bytes) {
      return new Promise((resolve) => {
        res.write(bytes, () => resolve());
      });
    },
    end: () => void res.end(),
    destroy: () => void res.destroy(),
    answer(status, body, headers = {}) {
      const text = body === undefined ? '' : typeof body === 'string' ? body : JSON.stringify(body);
      const type = status >= 400 ? 'application/problem+json' : 'application/json';
      res.writeHead(status, text === '' ? headers : { 'Content-Type': type, ...headers });
      res.end(text);
    },
  };
}
