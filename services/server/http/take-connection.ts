import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

const NOTHING: IncomingMessage['headersDistinct'] = Object.freeze({});
const NO_LINES: string[] = [];

/** Of a client that hangs up, or sends on behind a request whose answer ends with the connection. */
function end(this: Socket): void {
  this.destroy();
}

/** A reset connection: `close` follows and says all there is to say. */
const ignore = (): void => undefined;

const uncork = (socket: Socket): void => socket.uncork();

/**
 * The parser keeps the request for as long as the connection is open: its headers cost kilobytes, and so do the response
 * and the layers of Express that it leads to.
 */
function forgetRequest(req: IncomingMessage): void {
  req.headers = NOTHING;
  req.headersDistinct = NOTHING;
  req.rawHeaders = NO_LINES;
  Object.assign(req, { res: undefined, next: undefined });
}

/**
 * Sends the head of an answer that lasts for as long as its connection, and takes that out of the hands of HTTP: the body is
 * what is written to it, as it is, up to its end (RFC 9112, section 6.3: neither a length nor chunks). Nothing is kept of
 * request and response, for which the answer is over (`close`). The first write of this turn goes out with the head.
 */
export function takeConnection(res: ServerResponse, headers: OutgoingHttpHeaders): Socket {
  const { req, socket } = res;
  if (socket === null) throw new Error('an answer that waits for another one has no connection');
  res.removeHeader('Transfer-Encoding');
  res.writeHead(200, { ...headers, Connection: 'close' });
  socket.cork();
  process.nextTick(uncork, socket);
  res.flushHeaders();
  res.detachSocket(socket);
  for (const event of ['data', 'end', 'error']) socket.removeAllListeners(event);
  socket.on('data', end).on('end', end).on('error', ignore);
  forgetRequest(req);
  // It has no body, and ends by being read. What is open when its connection closes HTTP ends with an error, whose stack
  // alone costs more than the rest of the close.
  req.read();
  res.emit('close');
  return socket;
}
