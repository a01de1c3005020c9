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
  // The next stream comes over a new connection. A request that was sent behind this one is not processed.
  Connection: 'close',
};

/** Ignores the error of a write between the end of the connection and its `close`, which reports the end. */
const ignore = (): void => undefined;

/** Receives what happens to a connection that a stream has, or is about to have. */
interface SocketListener {
  onClose: () => void;
  /** Called when the connection can be written to again. */
  onDrain: () => void;
}

/**
 * Writes the bytes of one stream, and knows when a client does not take them. It does not know what the bytes mean.
 * After `farewell` or `release` nothing more is written.
 */
export class StreamSocket {
  readonly #res: ServerResponse;
  #listener: SocketListener | null = null;
  #blocked = false;
  /** Time since which the client has taken nothing; 0 when nothing waits. */
  #stalledAtMs = 0;
  /** Time at which the last frame was written; 0 before that. */
  #farewellAtMs = 0;
  #released = false;
  #lastWriteMs = 0;

  constructor(res: ServerResponse) {
    this.#res = res;
    res.on('drain', this.#onDrain).on('close', this.#onClose);
  }

  listen(listener: SocketListener): void {
    this.#listener = listener;
  }

  readonly #onDrain = (): void => {
    this.#blocked = false;
    this.#stalledAtMs = 0;
    this.#listener?.onDrain();
  };

  readonly #onClose = (): void => this.#listener?.onClose();

  /**
   * Whether nothing more can be written: the last frame is on its way, or the socket no longer belongs to the stream.
   */
  get isOver(): boolean {
    return this.#released || this.#farewellAtMs > 0;
  }

  /** Whether another frame would be sent, and not only buffered. */
  get writable(): boolean {
    return !this.#blocked && !this.isOver;
  }

  /** Bytes that the client has not taken yet. */
  get bufferedBytes(): number {
    return this.#res.writableLength;
  }

  /** Time at which a frame was written last. */
  get lastWriteMs(): number {
    return this.#lastWriteMs;
  }

  /**
   * Sends the response head at once, with what this turn writes, so that proxies and clients know that the stream is
   * up.
   */
  start(): void {
    const res = this.#res;
    if (res.headersSent) return;
    // The body ends with the connection (RFC 9112, section 6.3): a frame is one write, while chunked encoding needs four.
    res.removeHeader('Transfer-Encoding');
    res.writeHead(200, HEAD).on('error', ignore);
    res.cork();
    res.flushHeaders();
    process.nextTick(() => res.uncork());
    // The request has no body. Reading it to its end avoids an error with its stack when the connection closes.
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

  /**
   * Resolves to true when the socket takes more, to false when it is over. While the client's laptop sleeps, neither
   * may happen for a long time.
   */
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

  /** Returns whether the client has taken nothing for long, or has left too much waiting. */
  isTooSlow(nowMs: number): boolean {
    if (this.#stalledAtMs === 0) return false;
    return nowMs - this.#stalledAtMs > MAX_STALLED_MS || this.bufferedBytes > MAX_BUFFERED_BYTES;
  }

  /** Returns whether the last frame was not taken in time: the client has gone without closing. */
  isLingering(nowMs: number): boolean {
    return this.#farewellAtMs > 0 && nowMs - this.#farewellAtMs > FAREWELL_MS;
  }

  /** Writes the last frame, after the head if that was not sent. The status is always 200, whatever the reason. */
  farewell(chunk: Buffer): void {
    if (this.isOver) return;
    this.start();
    this.#farewellAtMs = performance.now();
    this.#res.end(chunk);
  }

  /** Gives the connection up, because it has closed or another part answers the request. */
  release(): void {
    this.#released = true;
    this.#res.off('drain', this.#onDrain).off('close', this.#onClose);
    if (this.#res.headersSent) this.#res.destroy();
  }

  /** Cuts the connection, and drops what its client has not taken. */
  destroy(): void {
    this.#res.destroy();
  }
}
