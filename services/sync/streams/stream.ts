import { randomBytes } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import type { RevokedReason } from '../../../shared/contract/sessions.ts';
import type { ReconnectReason } from '../../../shared/contract/stream.ts';
import type { Caller } from '../identity/caller.ts';
import { frame, reconnectFrame } from './frames.ts';

/** How many positions a stream remembers: an announcement may come this late and still be known as seen. */
const RECENT_POSITIONS = 64;

/** Over this many unsent bytes, or this long without progress, a client is too slow and is ended. */
const MAX_BUFFERED_BYTES = 512 * 1024;
const MAX_STALLED_MS = 30_000;

/** Attaches in vain, one after the other: some seconds. */
const FAILED_ATTACHES_TO_DEGRADE = 4;

/** A client that is sent away to show who it is comes back after so long. */
const SHOW_AGAIN_MS = 100;

/** How long a client may take to receive the last frame. */
const FAREWELL_MS = 5_000;

/**
 * One client's socket and its own position in the account's log.
 *
 *     opening --attached--> behind --caught up--> live
 *                             ^                     |
 *                             +--- gap, slow, sweep-+        any --> closed
 *
 * There is no queue: a stream that cannot be written to, or that missed something, is `behind`, and reads the log from
 * its position once its socket drains.
 */
export class Stream {
  /** Never used again, so a row marked closed stays closed. */
  readonly id = randomBytes(9).toString('base64url');
  readonly caller: Caller;
  /** A device id, or `~<name>` for a stream without a device. */
  readonly device: string;
  state: 'opening' | 'behind' | 'live' | 'closed' = 'opening';
  position = '';
  /** Each attach carries a higher one, so that of two the later wins whatever their order of arrival. */
  generation = 0;
  /** An attach of it has written its route, or may have. */
  mayBeRouted = false;
  /** The row of its device was lost, and could not be put back. */
  lacksRow = false;
  /** Set by an announcement that was dropped because the stream was not live: what was read may be too old. */
  missedEvent = false;
  /** While set, what lies beside the log at this position is pending, but for what was written already. */
  pending: { readonly from: string; readonly written: Set<string> } | null = null;
  catchingUp = false;
  /** `ready` was written; before that nothing else may be. */
  readySent = false;
  /** It needs a `ready`, the first or another one: only that takes back what the client believes. */
  needsReady = true;
  presenceVersion = 0;
  /** Attaches in vain since the last one that succeeded. */
  failedAttaches = 0;
  /** Why it is to be attached again before the sweep comes by. */
  recheckReason: string | undefined;
  /** It was to be attached again while it was opening, which may have been too early. */
  attachAgain = false;
  readonly askedAtMs = performance.now();
  rotateAtMs = Number.POSITIVE_INFINITY;
  /** Since when it should have been rotated, and could not. */
  overdueSinceMs: number | undefined;
  lastWriteMs = 0;
  /** The position that the client was told last, as the id of a frame, and when. */
  lastSent = { position: '', atMs: 0 };
  closeReason = 'client';
  readonly #res: ServerResponse;
  readonly #recent: string[] = [];
  #ringAt = 0;
  #stalledAtMs = 0;
  #blocked = false;
  #endedAtMs = 0;
  #degraded = false;

  constructor(res: ServerResponse, caller: Caller, device: string) {
    this.#res = res;
    this.caller = caller;
    this.device = device;
    res.on('drain', () => {
      this.#blocked = false;
      this.#stalledAtMs = 0;
    });
    // A reset connection: `close` follows and says all there is to say.
    res.on('error', () => undefined);
  }

  get account(): string {
    return this.caller.account;
  }

  /** Nothing will be written any more: the socket has closed, or the last frame is on its way. */
  get isOver(): boolean {
    return this.state === 'closed' || this.#endedAtMs > 0;
  }

  /** It was told that the store is away. */
  get isDegraded(): boolean {
    return this.#degraded;
  }

  get writable(): boolean {
    return !this.#blocked && !this.isOver;
  }

  get bufferedBytes(): number {
    return this.#res.writableLength;
  }

  /** Sends the response head at once, so that proxies and clients know the stream is up. */
  start(): void {
    if (this.#res.headersSent) return;
    this.#res.writeHead(200, {
      'Content-Type': 'text/event-stream; charset=utf-8',
      'Cache-Control': 'no-store, no-transform',
      'X-Accel-Buffering': 'no',
    });
  }

  /** It has been attached again: why that was to be. */
  takeRecheckReason(): string | undefined {
    const { recheckReason } = this;
    this.recheckReason = undefined;
    return recheckReason;
  }

  /** Goes on to a new position; the old ones are remembered for announcements that come late. */
  advance(id: string): void {
    this.position = id;
    this.#recent[this.#ringAt] = id;
    this.#ringAt = (this.#ringAt + 1) % RECENT_POSITIONS;
  }

  saw(id: string): boolean {
    return this.#recent.includes(id);
  }

  /**
   * Writes one frame. The frame is always accepted; false says that the socket is full and nothing more should be
   * written before `whenWritable`.
   */
  write(chunk: Buffer, nowMs = performance.now()): boolean {
    if (this.isOver) return false;
    this.lastWriteMs = nowMs;
    if (this.#res.write(chunk)) return true;
    this.#blocked = true;
    this.#stalledAtMs ||= nowMs;
    return false;
  }

  /** `write` of a frame that has the position as its id. */
  writePosition(chunk: Buffer, nowMs = performance.now()): boolean {
    this.lastSent = { position: this.position, atMs: nowMs };
    return this.write(chunk, nowMs);
  }

  /** For so long nothing was written, or nothing that told the client how far it has come meanwhile. */
  isQuiet(nowMs: number, forMs: number): boolean {
    if (nowMs - this.lastWriteMs >= forMs) return true;
    return this.position !== this.lastSent.position && nowMs - this.lastSent.atMs >= forMs;
  }

  /** The store is away: the stream stays, and says so once. */
  degrade(): void {
    if (!this.readySent || this.#degraded) return;
    this.#degraded = true;
    this.write(frame('degraded', '{"reason":"store"}'));
  }

  /** In a cluster the primary of this account may be away for itself, which only this tells. */
  noteFailedAttach(): void {
    this.failedAttaches += 1;
    if (this.failedAttaches >= FAILED_ATTACHES_TO_DEGRADE) this.degrade();
  }

  /** The store has answered for this stream. */
  restore(): void {
    this.failedAttaches = 0;
    if (!this.#degraded) return;
    this.#degraded = false;
    this.write(frame('restored', '{"reason":"store"}'));
  }

  /** Resolves when the socket takes more, to false when it has closed instead: a sleeping laptop sends neither for long. */
  async whenWritable(): Promise<boolean> {
    if (this.isOver || !this.#blocked) return !this.isOver;
    const res = this.#res;
    await new Promise<void>((resolve) => {
      const done = () => {
        res.off('drain', done);
        res.off('close', done);
        resolve();
      };
      res.on('drain', done);
      res.on('close', done);
    });
    return !this.isOver;
  }

  /** The last frame was not taken in time: the client is gone without a word. */
  isLingering(nowMs: number): boolean {
    return this.#endedAtMs > 0 && nowMs - this.#endedAtMs > FAREWELL_MS;
  }

  isTooSlow(nowMs: number): boolean {
    if (this.#stalledAtMs === 0) return false;
    return nowMs - this.#stalledAtMs > MAX_STALLED_MS || this.bufferedBytes > MAX_BUFFERED_BYTES;
  }

  /** Tells the client why and when to come back, then ends the stream: always a 200, whatever the reason. */
  end(reason: ReconnectReason, retryMs: number): void {
    if (this.isOver) return;
    this.closeReason = reason;
    this.start();
    this.#endedAtMs = performance.now();
    this.#res.end(reconnectFrame(reason, retryMs));
    // A socket that does not drain would keep its buffer for as long as the client sleeps.
    if (reason === 'slow') this.#res.destroy();
  }

  /**
   * Tells the client that its session is over, then ends the stream. Where one session is named, those of others go on;
   * a stream of which nobody says whose session it is has its client come back, who is let in or refused then.
   */
  endRevoked(reason: RevokedReason, sessionId: string | null): void {
    const { sessionId: own } = this.caller;
    if (sessionId !== null && own === undefined) return this.end('rotate', SHOW_AGAIN_MS);
    if (this.isOver || (sessionId !== null && own !== sessionId)) return;
    this.closeReason = 'revoked';
    this.start();
    this.#endedAtMs = performance.now();
    this.#res.end(frame('session:revoked', JSON.stringify({ reason })));
  }

  destroy(): void {
    this.#res.destroy();
  }
}
