import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

type Begin = [req: IncomingMessage, res: ServerResponse];

/** The most requests that may wait on one connection. A client that pipelines sends only a few ahead. */
const MOST_WAITING = 16;

/**
 * Makes a listener that begins each request of a connection when the response before it is complete. Node begins pipelined
 * requests at once and holds back only their responses, so a request behind an event stream would take effect and never be
 * answered. After a response that ends its connection nothing more is carried out (RFC 9112, section 9.6).
 */
export function oneAtATime(app: RequestListener): RequestListener {
  /** Connections with a request under way, and the requests that wait behind it. */
  const lines = new WeakMap<Socket, Begin[] | null>();

  function begin(req: IncomingMessage, res: ServerResponse): void {
    res.once('close', goOn);
    app(req, res);
  }

  function goOn(this: ServerResponse): void {
    const { socket } = this.req;
    const next = lines.get(socket)?.shift();
    if (next !== undefined && socket.writable) begin(...next);
    else lines.delete(socket);
  }

  return (req, res) => {
    const { socket } = req;
    // The request was behind a body that nobody read, and was parsed only after the response had ended the connection.
    if (!socket.writable) return;
    const line = lines.get(socket);
    if (line === undefined) {
      lines.set(socket, null);
      begin(req, res);
    } else if (line === null) lines.set(socket, [[req, res]]);
    else if (line.push([req, res]) > MOST_WAITING) socket.destroy();
  };
}
