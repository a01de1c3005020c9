import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';

/** Requests that begin in one round of the event loop, about 1 ms of work. */
const BATCH_SIZE = 4;

interface AddressQueueParts {
  app: RequestListener;
  /** Returns the client's address, as far as it is known before the request is read. */
  addressOf: (req: IncomingMessage) => string;
  batchSize?: number;
}

type Begin = [req: IncomingMessage, res: ServerResponse];

/**
 * Makes a fair queue by client address. A few requests begin in each round of the event loop. When more arrive, each
 * address has its own line, and the lines take turns. Otherwise hundreds of requests that one client sends at once would
 * delay every event, and the next request of another client, until all of them are done.
 */
export function makeAddressQueue({ app, addressOf, batchSize = BATCH_SIZE }: AddressQueueParts): RequestListener {
  const lines = new Map<string, Begin[]>();
  let left = batchSize;
  let isOpen = false;

  /** Takes the first request of the next line, and moves that line behind the others. */
  function take(): Begin | undefined {
    const [first] = lines;
    if (first === undefined) return undefined;
    const [address, line] = first;
    const begin = line.shift();
    lines.delete(address);
    if (line.length > 0) lines.set(address, line);
    return begin;
  }

  function open(): void {
    if (isOpen) return;
    isOpen = true;
    setImmediate(next);
  }

  function next(): void {
    isOpen = false;
    left = batchSize;
    while (left > 0) {
      const begin = take();
      if (begin === undefined) return;
      left -= 1;
      // A client that has gone meanwhile is not served, and would never be noticed.
      if (!begin[0].destroyed && !begin[1].destroyed) app(...begin);
    }
    open();
  }

  return (req, res) => {
    open();
    if (left > 0 && lines.size === 0) {
      left -= 1;
      app(req, res);
      return;
    }
    const address = addressOf(req);
    const line = lines.get(address);
    if (line === undefined) lines.set(address, [[req, res]]);
    else line.push([req, res]);
  };
}
