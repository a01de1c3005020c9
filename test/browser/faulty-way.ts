import { once } from 'node:events';
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/**
 * What happens to the requests that create something. A `lost` one reaches the service, but the answer does not come
 * back.
 */
type Fate = 'passed' | 'lost' | 'refused';

/** A proxy between a page and a replica that fails as a test says. Other requests pass. */
export interface FaultyWay {
  readonly url: string;
  /** The requests that create something, with their keys, in their order. */
  readonly made: readonly { key: string; status: number }[];
  /**
   * Decides the fate of requests to this path from now on. `onLost` is called when the service has answered one that
   * gets lost.
   */
  fail(path: string, fate: Fate, onLost?: () => void): void;
  /** Sets where requests go from now on. */
  lead(to: { url: string }): void;
  /** Closes the open connections, as of event streams. */
  cut(): void;
  stop(): Promise<void>;
}

const GATEWAY_TIMEOUT = '<html><body>504 Gateway Time-out</body></html>';

export async function startFaultyWay(to: { url: string }): Promise<FaultyWay> {
  const made: { key: string; status: number }[] = [];
  const fates = new Map<string, { fate: Fate; onLost: () => void }>();
  let target = to;

  function note(req: IncomingMessage, status: number): void {
    if (req.headers['idempotency-key'] === undefined) return;
    made.push({ key: String(req.headers['idempotency-key']), status });
  }

  function giveUp(req: IncomingMessage, res: ServerResponse): void {
    note(req, 504);
    res.writeHead(504, { 'Content-Type': 'text/html' }).end(GATEWAY_TIMEOUT);
  }

  const server = createServer((req, res) => {
    const { pathname } = new URL(req.url ?? '', target.url);
    const { fate, onLost } = (req.method === 'POST' && fates.get(pathname)) || { fate: 'passed', onLost: () => {} };
    if (fate === 'refused') return giveUp(req, res);
    // The headers make the page look like the replica's own. Otherwise the replica would take it for another site's.
    const own = new URL(target.url.replace('127.0.0.1', 'localhost'));
    const headers = { ...req.headers, host: own.host, ...(req.headers.origin !== undefined && { origin: own.origin }) };
    const onward = request(
      new URL(req.url ?? '', target.url),
      { method: req.method, headers, agent: false },
      (answer) => {
        if (fate === 'lost') {
          answer.resume();
          onLost();
          return giveUp(req, res);
        }
        note(req, answer.statusCode ?? 0);
        res.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(res);
      },
    );
    onward.on('error', () => res.destroy());
    res.on('close', () => onward.destroy());
    req.pipe(onward);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://localhost:${(server.address() as AddressInfo).port}`,
    made,
    fail(path, fate, onLost = () => {}) {
      fates.set(path, { fate, onLost });
    },
    lead(next) {
      target = next;
    },
    cut() {
      server.closeAllConnections();
    },
    async stop() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}
