import { once } from 'node:events';
import { createServer, type RequestListener, type Server, type ServerOptions } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { stopListening } from './accept-queue.ts';
import { makeLastAnswers } from './last-answers.ts';
import { originFormOf } from './request/target.ts';
import { makeStuckCutter } from './stuck-sockets.ts';

/** The idle time of a connection, in seconds. Most proxies in front close theirs after 60 s. */
export const KEEP_ALIVE_SECONDS = 75;
/** The time for the head of a request, from its first byte; of a new connection, from its beginning. */
const HEADERS_MS = 60_000;
/** No limit for bodies here, because the code that reads a body has its own timers. */
const REQUEST_MS = 0;
/** The most connections that wait to be accepted: as many as return at once after a restart of the edge. */
const BACKLOG = 4_096;
/**
 * The bytes that a connection may hold before its writer must wait, the same on every Node. The default is 16 KiB on Node 20
 * and 64 KiB on Node 24, which each unread stream would cost. Measured on Node 24: 69,180 bytes per stream without this.
 */
const BUFFER_BYTES = 16 * 1_024;
const IDLE_CHECK_MS = 50;
/** The number of checks after which a connection that has received nothing is closed. */
const SILENT_LOOKS = 10;
const STUCK_MS = 120_000;

export interface RunningServer {
  /** The port in use, even if 0 was asked for. */
  readonly port: number;
  /** Makes each response end its connection from now on. New connections are still accepted. */
  endAfterAnswers(): void;
  /**
   * Accepts nothing more and lets running requests finish. Connections still open after `deadlineMs` are cut.
   * Resolves when all are closed. Repeated calls share one close.
   */
  close(deadlineMs: number): Promise<void>;
}

/** Returns host and port as in a URL. */
export const addressText = (host: string, port: number): string => `${host.includes(':') ? `[${host}]` : host}:${port}`;

function describe(error: NodeJS.ErrnoException, host: string, port: number): Error {
  const where = addressText(host, port);
  const says: Record<string, string> = {
    EADDRINUSE: `${where} is taken by another process`,
    EACCES: `${where} may not be opened by this user`,
    EADDRNOTAVAIL: `${host} is not an address of this machine`,
  };
  return new Error(says[error.code ?? ''] ?? `cannot listen on ${where}: ${error.message}`, { cause: error });
}

/** Returns the set of open connections of the server. Connections that are not admitted are closed without a response. */
function connectionsOf(server: Server, admits: (socket: Socket) => boolean): ReadonlySet<Socket> {
  const sockets = new Set<Socket>();
  const forget = function (this: Socket): void {
    sockets.delete(this);
  };
  server.on('connection', (socket: Socket) => {
    if (!admits(socket)) {
      socket.destroy();
      return;
    }
    sockets.add(socket);
    socket.on('close', forget);
  });
  return sockets;
}

/**
 * Returns a function that closes idle connections. Node does not count those that have received nothing yet, and clients
 * open some in advance. Those are closed at the tenth check, so that a request that is just arriving is still answered, also
 * on a busy machine.
 */
function makeIdleCloser(server: Server, sockets: ReadonlySet<Socket>): () => void {
  const looks = new WeakMap<Socket, number>();
  return () => {
    server.closeIdleConnections();
    for (const socket of sockets) {
      if (socket.bytesRead > 0) continue;
      const seen = (looks.get(socket) ?? 0) + 1;
      looks.set(socket, seen);
      if (seen >= SILENT_LOOKS) socket.destroy();
    }
  };
}

async function closeWithin(server: Server, sockets: ReadonlySet<Socket>, deadlineMs: number): Promise<void> {
  const closed = once(server, 'close');
  await stopListening(server, deadlineMs / 2);
  const closeIdle = makeIdleCloser(server, sockets);
  // A connection may become idle after the last check, so check again until none is left.
  const idle = setInterval(closeIdle, IDLE_CHECK_MS);
  const deadline = setTimeout(() => server.closeAllConnections(), deadlineMs);
  // Ends what `http.Server` has besides its listening socket.
  server.close();
  closeIdle();
  await closed;
  clearInterval(idle);
  clearTimeout(deadline);
}

/** The classes that the server uses for requests and responses; by default Node's own. */
export type MessageClasses = Pick<ServerOptions, 'IncomingMessage' | 'ServerResponse'>;

interface ServerParts {
  app: RequestListener;
  classes?: MessageClasses;
  host: string;
  port: number;
  /** Returns whether a new connection may stay. */
  admits?: (socket: Socket) => boolean;
  /** The most connections. Further ones are closed at once, so that file descriptors are left for serving the others. */
  maxConnections?: number;
  /** Called when a connection was closed because of `maxConnections`. */
  onFull?: () => void;
  /** How long a client may read nothing of its response before it is cut off. */
  stuckMs?: number;
  /**
   * How long a connection stays open between requests. It must be longer than in the proxy in front, so that the proxy closes
   * first, and no request meets a closing connection.
   */
  keepAliveSeconds?: number;
}

/** Rewrites the target before the app runs, because routers parse its path before any middleware sees the request. */
const withPlainTarget =
  (app: RequestListener): RequestListener =>
  (req, res) => {
    req.url = originFormOf(req.url ?? '');
    app(req, res);
  };

/** Starts listening. Rejects with a text that names host and port if that fails. */
export async function startServer(parts: ServerParts) {
  const { classes, host, port, admits = () => true, stuckMs = STUCK_MS, keepAliveSeconds = KEEP_ALIVE_SECONDS } = parts;
  const answers = makeLastAnswers(withPlainTarget(parts.app));
  const app = answers.listener;
  const server = createServer(
    {
      ...classes,
      keepAliveTimeout: keepAliveSeconds * 1_000,
      headersTimeout: HEADERS_MS,
      requestTimeout: REQUEST_MS,
      // The app refuses a request without a host, with the headers of all its responses.
      requireHostHeader: false,
      highWaterMark: BUFFER_BYTES,
      noDelay: true,
    },
    app,
  );
  // A limit on the number of headers would silently drop later ones, such as the second of two identity headers. The size
  // limit of a request's head (16 KiB) bounds their number.
  server.maxHeadersCount = 0;
  // The app also answers an expectation that it does not know.
  server.on('checkExpectation', app);
  server.maxConnections = parts.maxConnections ?? Number.POSITIVE_INFINITY;
  server.on('drop', () => parts.onFull?.());
  const sockets = connectionsOf(server, admits);
  await new Promise<void>((resolve, reject) => {
    const fail = (error: NodeJS.ErrnoException): void => reject(describe(error, host, port));
    server.once('error', fail);
    server.listen({ host, port, backlog: BACKLOG }, () => {
      server.off('error', fail);
      resolve();
    });
  });
  const stuck = makeStuckCutter(sockets, stuckMs);
  let closing: Promise<void> | null = null;
  const running: RunningServer = {
    port: (server.address() as AddressInfo).port,
    endAfterAnswers: answers.begin,
    close(deadlineMs) {
      closing ??= closeWithin(server, sockets, deadlineMs).finally(stuck.stop);
      return closing;
    },
  };
  return running;
}
