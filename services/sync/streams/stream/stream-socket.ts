import type { ServerResponse } from 'node:http';
import { traceOpening } from '../../../../shared/service-kit/telemetry/trace-points.ts';

/** Over this many unsent bytes, or this long without progress, a client is too slow and is ended. */
const MAX_BUFFERED_BYTES = 512 * 1024;
const MAX_STALLED_MS = 30_000;

/** How long a client may take to receive the last frame. */
const FAREWELL_MS = 5_000;

const HEAD = {
  'Content-Type': 'text/event-stream; charset=utf-8',
  'Cache-Control': 'no-store, no-transform',
  'X-Accel-Buffering': 'no',
  // The next stream comes over a new connection. Nothing that was sent behind this request is carried out.
  Connection: 'close',
};

/** A write that comes between the end of the connection and its `close`, which says all there is to say. */
const ignore = (): void => undefined;

/** What happens to a connection that a stream has, or is about to have. */
interface SocketListener {
  onClose: () => void;
  /** It can be written to again. */
  onDrain: () => void;
}

/**
 * The bytes of one stream: writes, and what is known of a client that does not take them. It knows nothing of what they
 * mean. After `farewell` or `release` nothing more is written.
 */
export class StreamSocket {
  readonly #res: ServerResponse;
  #listener: SocketListener | null = null;
  #blocked = false;
  /** Since when nothing was taken; 0: nothing is waiting. */
  #stalledAtMs = 0;
  /** When the last frame was written; 0: not yet. */
  #farewellAtMs = 0;
  #released = false;
  #lastWriteMs = 0;

  constructor(res: ServerResponse) {
    this.#res = res;
    res.on('drain', this.#onDrain).on('close', this.#onClose);
  }

  /** Who is told. */
  listen(listener: SocketListener): void {
    this.#listener = listener;
  }

  readonly #onDrain = (): void => {
    this.#blocked = false;
    this.#stalledAtMs = 0;
    this.#listener?.onDrain();
  };

  readonly #onClose = (): void => this.#listener?.onClose();

  /** Nothing more can be written: the last frame is on its way, or the socket is no longer the stream's. */
  get isOver(): boolean {
    return this.#released || this.#farewellAtMs > 0;
  }

  /** Another frame would be sent on, and not only buffered. */
  get writable(): boolean {
    return !this.#blocked && !this.isOver;
  }

  /** Bytes that the client has not taken yet. */
  get bufferedBytes(): number {
    return this.#res.writableLength;
  }

  /** When a frame was written last. */
  get lastWriteMs(): number {
    return this.#lastWriteMs;
  }

  /** Sends the response head at once, so that proxies and clients know the stream is up, with what this turn writes. */
  start(): void {
    const res = this.#res;
    if (res.headersSent) return;
    // The body ends with the connection (RFC 9112, section 6.3): a frame is one write, and not four with its chunk.
    res.removeHeader('Transfer-Encoding');
    res.writeHead(200, HEAD).on('error', ignore);
    res.cork();
    res.flushHeaders();
    process.nextTick(() => res.uncork());
    // The request has no body. One that is still open when its connection closes costs an error with its stack.
    res.req.resume();
    traceOpening(res);
  }

  /**
   * Writes one frame. The frame is always accepted; false says that the socket is full and nothing more should be
   * written before `whenWritable`.
   */
  write(chunk: Buffer, nowMs = performance.now()): boolean {
    if (this.isOver) return false;
    this.#lastWriteMs = nowMs;
    if (this.#res.write(chunk)) return true;
    this.#blocked = true;
    this.#stalledAtMs ||= nowMs;
    return false;
  }

  /** Resolves when the socket takes more, to false when it is over instead: a sleeping laptop sends neither for long. */
  async whenWritable(): Promise<boolean> {
    if (this.isOver || !this.#blocked) return !this.isOver;
    const res = this.#res;
    await new Promise<void>((resolve) => {
      const done = () => {
        res.off('drain', done).off('close', done);
        resolve();
      };
      res.on('drain', done).on('close', done);
    });
    return !this.isOver;
  }

  /** The client has taken nothing for long, or leaves too much waiting. */
  isTooSlow(nowMs: number): boolean {
    if (this.#stalledAtMs === 0) return false;
    return nowMs - this.#stalledAtMs > MAX_STALLED_MS || this.bufferedBytes > MAX_BUFFERED_BYTES;
  }

  /** The last frame was not taken in time: the client is gone without a word. */
  isLingering(nowMs: number): boolean {
    return this.#farewellAtMs > 0 && nowMs - this.#farewellAtMs > FAREWELL_MS;
  }

  /** Writes the last frame, with the head before it where none was sent: always a 200, whatever the reason. */
  farewell(chunk: Buffer): void {
    if (this.isOver) return;
    this.start();
    this.#farewellAtMs = performance.now();
    this.#res.end(chunk);
  }

  /** The connection has closed, or somebody else answers the request. */
  release(): void {
    this.#released = true;
    this.#res.off('drain', this.#onDrain).off('close', this.#onClose);
    if (this.#res.headersSent) this.#res.destroy();
  }

  /** Cuts the connection, with what its client has not taken. */
  destroy(): void {
    this.#res.destroy();
  }
}
