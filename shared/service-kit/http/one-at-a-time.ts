import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

type Begin = [req: IncomingMessage, res: ServerResponse];

/** Requests that may wait on one connection. A client that pipelines at all sends a few ahead. */
const MOST_WAITING = 16;

/**
 * Begins each request of a connection when the answer before it is complete. Node begins pipelined requests at once and
 * holds back only their answers: one behind an event stream would take effect and never be answered. After an answer that
 * ends its connection nothing more is carried out (RFC 9112, section 9.6).
 */
export function oneAtATime(app: RequestListener): RequestListener {
  /** Connections with a request under way, and what waits behind it. */
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
    // It lay behind a body that nobody read, and came to light when the answer had ended the connection.
    if (!socket.writable) return;
    const line = lines.get(socket);
    if (line === undefined) {
      lines.set(socket, null);
      begin(req, res);
    } else if (line === null) lines.set(socket, [[req, res]]);
    else if (line.push([req, res]) > MOST_WAITING) socket.destroy();
  };
}
