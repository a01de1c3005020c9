import {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  connect,
  constants,
  type IncomingHttpHeaders,
} from 'node:http2';
import type { Socket } from 'node:net';
import type { ProviderAnswer } from '../post.ts';

const CONNECT_MS = 3_000;
/** How long a connection may be quiet before a ping tests it ahead of the next use: a middlebox may have dropped it. */
const QUIET_MS = 60_000;
const PING_MS = 2_000;
/** How long a connection that takes no new requests may stay quiet before it is closed: longer than any push takes. */
const LINGER_MS = 15_000;
const MOST_BYTES = 4_096;

export interface ApnsRequest {
  headers: Record<string, string>;
  path: string;
  body: string;
  signal: AbortSignal;
}

interface ApnsConnectionParts {
  origin: string;
  ca: string | undefined;
  /** For tests. */
  quietMs?: number;
}

/** Returns an error of the network, with a code like those of sockets. */
const broken = (code: string): Error => Object.assign(new Error('the connection to the provider broke'), { code });

const isAlive = (session: ClientHttp2Session): Promise<boolean> =>
  new Promise((resolve) => {
    const tooLong = setTimeout(() => resolve(false), PING_MS);
    const closed = () => answered(false);
    const answered = (isWell: boolean) => {
      clearTimeout(tooLong);
      session.off('close', closed);
      resolve(isWell);
    };
    session.once('close', closed);
    if (!session.ping((error) => answered(error === null))) answered(false);
  });

/** Resolves to the arguments of the event. Rejects when an error or the end comes before it. */
const awaited = (emitter: ClientHttp2Session | ClientHttp2Stream, event: 'connect' | 'response') =>
  new Promise<unknown[]>((resolve, reject) => {
    emitter.once(event, (...args: unknown[]) => resolve(args));
    emitter.once('error', reject);
    emitter.once('close', () => reject(broken('ECONNRESET')));
  });

async function connected(session: ClientHttp2Session): Promise<void> {
  const tooLong = setTimeout(() => session.destroy(broken('ETIMEDOUT')), CONNECT_MS);
  try {
    await awaited(session, 'connect');
  } finally {
    clearTimeout(tooLong);
  }
}

async function readSome(stream: ClientHttp2Stream): Promise<string> {
  let body = '';
  for await (const chunk of stream) {
    body += chunk;
    if (body.length >= MOST_BYTES) break;
  }
  return body.slice(0, MOST_BYTES);
}

/** Sends one request on this connection. Calls `onGivenUp` when its answer does not come in time. */
async function ask(
  session: ClientHttp2Session,
  { headers, path, body, signal }: ApnsRequest,
  onGivenUp: () => void,
): Promise<ProviderAnswer> {
  const stream = session.request({ ':method': 'POST', ':path': path, ...headers });
  const giveUp = () => {
    stream.close(constants.NGHTTP2_CANCEL);
    onGivenUp();
  };
  // The promises below report errors. A later error does not matter, but must not end the process.
  stream.on('error', () => undefined);
  signal.addEventListener('abort', giveUp, { once: true });
  try {
    stream.setEncoding('utf8').end(body);
    const [answer] = (await awaited(stream, 'response')) as [IncomingHttpHeaders];
    const text = await readSome(stream);
    return { status: Number(answer[':status']), retryAfter: answer['retry-after'] ?? null, body: text };
  } finally {
    signal.removeEventListener('abort', giveUp);
  }
}

/** Makes one HTTP/2 connection that is kept. A new one replaces it when it ends, gets GOAWAY, or stops answering. */
export function makeApnsConnection({ origin, ca, quietMs = QUIET_MS }: ApnsConnectionParts) {
  let current: { session: ClientHttp2Session; ready: Promise<void>; usedAtMs: number } | null = null;
  const all = new Set<ClientHttp2Session>();
  const sockets = new Map<ClientHttp2Session, Socket>();
  let isClosed = false;

  /** Retires a connection: no new request begins on it, and those under way may end. */
  const leave = (session: ClientHttp2Session) => {
    if (current?.session === session) current = null;
    if (!session.closed) session.close();
    sockets.get(session)?.setTimeout(LINGER_MS, () => sockets.get(session)?.destroy());
  };

  function open() {
    const session = connect(origin, { ...(ca !== undefined && { ca }) });
    all.add(session);
    session.once('connect', (_, socket: Socket) => {
      sockets.set(session, socket);
      socket.once('close', () => sockets.delete(session));
    });
    session.on('goaway', () => leave(session));
    session.on('error', () => leave(session));
    session.on('close', () => {
      leave(session);
      all.delete(session);
    });
    return { session, ready: connected(session), usedAtMs: performance.now() };
  }

  async function living(): Promise<ClientHttp2Session> {
    // A push that was given up may still wait for its token. Nobody would close the connection that it opens.
    if (isClosed) throw broken('ECONNABORTED');
    current ??= open();
    const taken = current;
    await taken.ready;
    const wasQuiet = performance.now() - taken.usedAtMs > quietMs;
    taken.usedAtMs = performance.now();
    const isWell = !wasQuiet || (await isAlive(taken.session));
    if (isWell && !taken.session.closed) return taken.session;
    leave(taken.session);
    if (!isWell) taken.session.destroy();
    return living();
  }

  return {
    /** Posts a request. Rejects when no answer comes. A connection on which an answer is late is retired. */
    async post(request: ApnsRequest): Promise<ProviderAnswer> {
      const session = await living();
      // If the signal has aborted, the caller has its timeout already and tries again.
      request.signal.throwIfAborted();
      return ask(session, request, () => leave(session));
    },

    async close(): Promise<void> {
      isClosed = true;
      current = null;
      // A session may report an error before its end.
      const closed = [...all].map((session) => new Promise((resolve) => session.once('close', resolve)));
      for (const session of all) session.destroy();
      // A session that was closed before counts as destroyed already, while its socket waits for the server to close.
      for (const socket of sockets.values()) socket.destroy();
      await Promise.all(closed);
    },
  };
}
