import { once } from 'node:events';
import { createServer, type IncomingMessage, request } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A request as a balancer sees it. */
export interface Balanced {
  readonly path: string;
  /** A person asks: the page itself is to be shown. */
  readonly isVisit: boolean;
  /** The service worker asks, or its script is asked for. */
  readonly isOfWorker: boolean;
}

/** One address for several replicas. */
export interface Balancer {
  readonly url: string;
  /** The requests in their order, each with the status of its answer. */
  readonly answered: readonly (Balanced & { status: number })[];
  /** Sets who gets which request from now on. */
  spread(choose: (asked: Balanced) => { url: string }): void;
  stop(): Promise<void>;
}

const balancedOf = ({ url = '', headers }: IncomingMessage): Balanced => ({
  path: url.replace(/\?.*/, ''),
  isVisit: headers['sec-fetch-dest'] === 'document',
  isOfWorker: ['empty', 'serviceworker'].includes(String(headers['sec-fetch-dest'])),
});

export async function startBalancer(choose: (asked: Balanced) => { url: string }): Promise<Balancer> {
  const answered: (Balanced & { status: number })[] = [];
  let chosen = choose;
  const server = createServer((req, res) => {
    const asked = balancedOf(req);
    const { method, headers } = req;
    const onward = request(new URL(req.url ?? '', chosen(asked).url), { method, headers, agent: false }, (answer) => {
      answered.push({ ...asked, status: answer.statusCode ?? 0 });
      res.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(res);
    });
    onward.on('error', () => res.destroy());
    res.on('close', () => onward.destroy());
    req.pipe(onward);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://localhost:${(server.address() as AddressInfo).port}`,
    answered,
    spread(next) {
      chosen = next;
    },
    async stop() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}
