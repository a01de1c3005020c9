import { Agent, request } from 'node:http';

export interface Call {
  method?: string;
  path: string;
  headers?: Record<string, string>;
  /** Bytes that are sent as they are, or a value that is sent as JSON. */
  body?: unknown;
  /** The time after which it gives up. */
  withinMs?: number;
}

export interface Answer {
  /** 0: no answer came. */
  readonly status: number;
  /** The problem's code, or what went wrong with the connection. */
  readonly code: string;
  readonly body: unknown;
  readonly bytes: Buffer;
}

const PATIENCE_MS = 10_000;

const parse = (bytes: Buffer): unknown => {
  try {
    return JSON.parse(bytes.toString());
  } catch {
    return undefined;
  }
};

const codeOf = (body: unknown): string => (body as { code?: string } | undefined)?.code ?? '';

export type Ask = (url: string, call: Call) => Promise<Answer>;

/** Makes a client at this loopback address that keeps its connections. It never rejects. */
export function makeAsk({ from }: { from: string }): Ask {
  const agent = new Agent({ keepAlive: true, localAddress: from });
  return (url, { method = 'GET', path, headers = {}, body, withinMs = PATIENCE_MS }) => {
    const raw = body instanceof Buffer;
    const bytes = raw ? (body as Buffer) : body === undefined ? null : Buffer.from(JSON.stringify(body));
    const sentHeaders = {
      ...(bytes !== null && { 'Content-Type': 'application/json', 'Content-Length': String(bytes.length) }),
      ...headers,
    };
    const { hostname, port } = new URL(url);
    return new Promise((resolve) => {
      const fail = (code: string) => resolve({ status: 0, code, body: undefined, bytes: Buffer.alloc(0) });
      const sent = request({ agent, hostname, port, method, path, headers: sentHeaders }, (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('error', () => fail('cut'));
        response.on('end', () => {
          const all = Buffer.concat(chunks);
          const status = response.statusCode ?? 0;
          const isJson = /json/.test(response.headers['content-type'] ?? '');
          const parsed = isJson ? parse(all) : undefined;
          resolve({ status, code: status >= 400 ? codeOf(parsed) : '', body: parsed, bytes: all });
        });
      });
      sent.setTimeout(withinMs, () => {
        fail('timeout');
        sent.destroy();
      });
      sent.on('error', (error: NodeJS.ErrnoException) => fail(error.code ?? 'cut'));
      sent.end(bytes ?? undefined);
    });
  };
}
