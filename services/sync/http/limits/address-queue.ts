import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';

/** Requests that are begun in one turn of the event loop, some 1 ms of work. */
const BATCH_SIZE = 4;

interface AddressQueueParts {
  app: RequestListener;
  /** The client's address, as far as it is known before the request is read. */
  addressOf: (req: IncomingMessage) => string;
  batchSize?: number;
}

type Begin = [req: IncomingMessage, res: ServerResponse];

/**
 * Fair queueing by client address: a few requests are begun in a turn of the event loop. When more have come, each
 * address has a line of its own, and the lines take turns. Some hundred requests that one client sends at the same
 * moment else stood before the next one of another, and before every event, for as long as they take in all.
 */
export function makeAddressQueue({ app, addressOf, batchSize = BATCH_SIZE }: AddressQueueParts): RequestListener {
  const lines = new Map<string, Begin[]>();
  let left = batchSize;
  let isOpen = false;

  /** The first of the line that comes next; the line goes behind the others. */
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
      // Who has gone meanwhile is not served, and would never be heard of.
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
