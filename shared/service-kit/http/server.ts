import { createServer, type RequestListener, type Server, type ServerOptions } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { whenNobodyWaits } from './accept-queue.ts';
import { makeLastAnswers } from './last-answers.ts';
import { originFormOf } from './request/target.ts';
import { makeStuckCutter } from './stuck-sockets.ts';

/**
 * Idle time of a connection: above that of the balancers in front (nginx and ALB 60 s), so that it is they who close,
 * and no request meets a closing socket. Headers must be allowed longer than that.
 */
const KEEP_ALIVE_MS = 75_000;
const HEADERS_MS = 76_000;
/** A body may take as long as it likes here: whoever reads it has timers of its own. */
const REQUEST_MS = 0;
/** Connections that wait to be accepted, as many as come back at once after a restart of the edge. */
const BACKLOG = 4_096;
/**
 * What a connection may hold before its writer is told to wait, the same on every Node: of itself Node 20 takes 16 KiB and
 * Node 24 64 KiB, which a stream that nobody reads would cost. Measured on Node 24: 69,180 bytes a stream without this.
 */
const BUFFER_BYTES = 16 * 1_024;
const IDLE_CHECK_MS = 50;
/** A connection over which nothing has come after so many checks is closed. */
const SILENT_LOOKS = 10;
const STUCK_MS = 120_000;

export interface RunningServer {
  /** The port in use, also when 0 was asked for. */
  readonly port: number;
  /** From now on each answer ends its connection; new connections are accepted. */
  endAfterAnswers(): void;
  /**
   * Accepts nothing more and lets running requests finish; connections still open after `deadlineMs` are cut.
   * Resolves when all are closed. Repeated calls are one.
   */
  close(deadlineMs: number): Promise<void>;
}

/** Host and port as one word, as in a URL. */
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

/** Every connection of the server, for as long as it is open. Those that are not admitted are closed without a word. */
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
 * Closes the connections over which nothing is under way. Node does not count those on which nothing has come yet, and
 * clients open some in advance: they are closed at the tenth look, so that a request that is just arriving is heard, on a
 * busy machine too.
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

function closeWithin(server: Server, sockets: ReadonlySet<Socket>, deadlineMs: number): Promise<void> {
  return new Promise((resolve) => {
    const closeIdle = makeIdleCloser(server, sockets);
    // A connection becomes idle after the look of `close()` at them: look again until none is left.
    const idle = setInterval(closeIdle, IDLE_CHECK_MS);
    const stopListening = (): void => {
      const deadline = setTimeout(() => server.closeAllConnections(), deadlineMs);
      server.close(() => {
        clearInterval(idle);
        clearTimeout(deadline);
        resolve();
      });
      closeIdle();
    };
    whenNobodyWaits(server, stopListening);
  });
}

/** The classes with which the server makes requests and responses; by default Node's own. */
export type MessageClasses = Pick<ServerOptions, 'IncomingMessage' | 'ServerResponse'>;

interface ServerParts {
  app: RequestListener;
  classes?: MessageClasses;
  host: string;
  port: number;
  /** Whether a connection that has just been made may stay. */
  admits?: (socket: Socket) => boolean;
  /** More connections than this are closed at once, so that there are descriptors for what serves the others. */
  maxConnections?: number;
  /** One was. */
  onFull?: () => void;
  /** A client that takes nothing of its answer for so long is cut off. */
  stuckMs?: number;
}

/** Before the app: routers look for a path in the target before any middleware has seen the request. */
const withPlainTarget =
  (app: RequestListener): RequestListener =>
  (req, res) => {
    req.url = originFormOf(req.url ?? '');
    app(req, res);
  };

/** Listens; rejects with a text that names host and port when that is not possible. */
export async function startServer(parts: ServerParts) {
  const { classes, host, port, admits = () => true, stuckMs = STUCK_MS } = parts;
  const answers = makeLastAnswers(withPlainTarget(parts.app));
  const app = answers.listener;
  const server = createServer(
    {
      ...classes,
      keepAliveTimeout: KEEP_ALIVE_MS,
      headersTimeout: HEADERS_MS,
      requestTimeout: REQUEST_MS,
      // The app refuses a request without a host, with the headers of all its answers.
      requireHostHeader: false,
      highWaterMark: BUFFER_BYTES,
      noDelay: true,
    },
    app,
  );
  // A limit in number drops what comes after it without a word, the second of two identity headers too. What a request's
  // head may weigh (16 KiB) bounds their number.
  server.maxHeadersCount = 0;
  // The same for an expectation that the app does not know.
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
