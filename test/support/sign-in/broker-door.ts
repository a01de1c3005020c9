import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { request, type WireAnswer } from '../wire.ts';

/** A response in the broker's place. `type` is JSON unless set. */
interface Told {
  status: number;
  type?: string;
  body: unknown;
}

/** Makes a response from the broker's own one; null: no response at all. */
type Answering = (real: () => Promise<WireAnswer>) => Promise<Told | null>;

/** A door in front of the broker, at which a test may respond in its place. */
export interface BrokerDoor {
  readonly url: string;
  /** Lets the test answer requests with this method and path from now on, and only these. */
  answer(what: string, answering: Answering): void;
  /** Lets everything pass from now on. */
  open(): void;
  stop(): Promise<void>;
}

async function bytesOf(req: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of req) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

export async function startBrokerDoor(broker: { url: string }): Promise<BrokerDoor> {
  let guarded: { what: string; answering: Answering } | null = null;

  const serve = async (req: IncomingMessage, res: ServerResponse): Promise<void> => {
    const { method = 'GET', url: path = '/', headers } = req;
    const body = await bytesOf(req);
    const passed = ['authorization', 'x-broker-app', 'content-type', 'idempotency-key'];
    const known = Object.fromEntries(passed.flatMap((name) => (headers[name] ? [[name, String(headers[name])]] : [])));
    const real = () => request(broker, { method, path, headers: known, ...(body.length > 0 && { body }) });
    try {
      const answer: Told | null =
        guarded !== null && guarded.what === `${method} ${path.split('?', 1)[0]}`
          ? await guarded.answering(real)
          : await real();
      if (answer === null) return;
      const text = typeof answer.body === 'string' ? answer.body : JSON.stringify(answer.body);
      res.writeHead(answer.status, { 'Content-Type': answer.type ?? 'application/json' });
      res.end(answer.status === 204 ? '' : text);
    } catch {
      res.destroy();
    }
  };
  const server = createServer((req, res) => void serve(req, res));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');

  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    answer(what, answering) {
      guarded = { what, answering };
    },
    open() {
      guarded = null;
    },
    async stop() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
