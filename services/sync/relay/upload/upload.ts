import type { IncomingMessage } from 'node:http';
import { BatonError } from '../../../../shared/contract/errors.ts';
import type { BulkLink } from '../../redis/bulk/bulk-link.ts';
import type { FairScheduler } from '../pacing/fair-scheduler.ts';
import { Pace } from '../pacing/pace.ts';
import type { Committed } from '../store.ts';
import { ChunkBuffer } from './chunk-buffer.ts';
import { meaningOf, replaced } from './chunk-faults.ts';
import { freeMemory } from './memory.ts';
import { SendWindow, type SendWindowParts } from './send-window.ts';

/**
 * Bytes that make a chunk, which goes to the store in the parts in which it came (of 64 KiB at most). A chunk of this
 * size with its overhead fits an allocation of 512 KiB in Redis.
 */
const CHUNK_BYTES = 440 * 1024;

/** Least bytes that a part counts for the scheduler, because even a small part costs something. */
const PART_BYTES = 1024;

/** Chunks under way to the store. */
const IN_FLIGHT = 2;

/** How long bytes wait for more before they go out as a short chunk. */
const LINGER_MS = 20;

/** The sender went away. Nobody is left who could be told why the upload ended. */
export class SenderGone extends Error {}

export interface UploadParts extends SendWindowParts {
  req: IncomingMessage;
  size: number;
  /** Offset at which the body begins. */
  offset: number;
  scheduler: FairScheduler;
  onBytes: (bytes: number) => void;
}

/**
 * One request that sends bytes of a file. It reads its socket only as far as the receiver has space, and holds no more
 * than a few chunks; a body of any length is one request. The bytes that it has added stay, whatever ends it.
 *
 *   reading --a whole chunk is there, and two are under way, or the scheduler lets others go first--> paused --> reading
 *   reading, paused --the next chunk does not fit the window--> waiting for space --half of it is free--> reading
 *     waiting for space --nothing taken in the stall time--> ending (window_full: what is not stored is forgotten)
 *   any --the body ended--> ending --all is stored--> done
 *   any --stop (sender closed or too slow, too many bytes, transfer over, the store fails)--> ending
 *     ending --all that fits the window is stored--> failed
 *   any --replaced, or a chunk was refused--> failed, once no chunk is under way (what is not stored is forgotten)
 */
export class Upload {
  readonly #parts: UploadParts;
  readonly #buffer: ChunkBuffer;
  readonly #window: SendWindow;
  readonly #pace: Pace;
  #link: BulkLink | null = null;
  #isConnecting = false;
  /** Offset up to which bytes were handed to the store, and offset up to which they are known to be there. */
  #sent: number;
  #end: number;
  #inFlight = 0;
  #hasEnded = false;
  #isOver = false;
  /** Whether a chunk that is not whole goes out too. */
  #isFlushing = false;
  /** Whether the scheduler lets others go first. */
  #isHeld = false;
  #failure: Error | null = null;
  /** The channel of a reader that waits for more than there is, or ''. */
  #waitingReader = '';
  #lastMs = performance.now();
  #settle: (() => void) | null = null;

  constructor(parts: UploadParts) {
    this.#parts = parts;
    this.#sent = parts.offset;
    this.#end = parts.offset;
    this.#window = new SendWindow(parts);
    this.#pace = new Pace(parts.stallMs);
    this.#buffer = new ChunkBuffer(Math.max(1, Math.min(CHUNK_BYTES, parts.windowBytes >> 2)));
  }

  /** Offset up to which the file is in the store. */
  get end(): number {
    return this.#end;
  }

  get bufferedBytes(): number {
    return this.#buffer.bytes + Math.max(0, this.#sent - this.#end);
  }

  /** Resolves when the body is in the store. Otherwise rejects with the cause, after storing all that can be kept. */
  async run(): Promise<void> {
    const { req } = this.#parts;
    const tick = setInterval(() => this.#tick(), LINGER_MS);
    const onEnd = () => {
      this.#hasEnded = true;
      this.#pump();
    };
    const onClose = () => {
      if (!this.#hasEnded) this.stop(new SenderGone());
    };
    const onData = (part: Buffer) => this.#take(part);
    try {
      await new Promise<void>((resolve) => {
        this.#settle = resolve;
        req.on('data', onData).once('end', onEnd).once('close', onClose).on('error', onClose);
        if (req.destroyed && !req.readableEnded) onClose();
        if (this.#failure) this.#pump();
      });
    } finally {
      clearInterval(tick);
      req.off('data', onData).off('end', onEnd).off('close', onClose);
      this.#isOver = true;
      this.#disconnect();
      this.#notifyWaitingReader();
    }
    if (this.#failure) throw this.#failure;
  }

  /** Tells the upload that there may be space, or that another request may have replaced it. */
  notify(): void {
    const window = this.#window;
    window.notify();
    // An upload that receives nothing would not notice that it was replaced.
    if (window.isWaiting || this.#failure !== null) return;
    window.checkHeld().catch((error: unknown) => this.stop(error as Error));
  }

  /** Ends the upload with this error. Bytes that have come are still stored, unless another request sends now. */
  stop(error: Error): void {
    if (this.#failure === null) {
      this.#failure = error;
      if (error instanceof BatonError && error.code === 'upload_gone') this.#buffer.clear();
      this.#parts.req.pause();
      this.#window.end();
    }
    this.#pump();
  }

  #take(part: Buffer): void {
    const { size, scheduler } = this.#parts;
    this.#pace.moved(part.length);
    this.#lastMs = performance.now();
    const space = size - this.#sent - this.#buffer.bytes;
    if (part.length > space) {
      this.#buffer.add(part.subarray(0, space));
      return this.stop(new BatonError('upload_length_mismatch', `The file was declared with ${size} bytes`));
    }
    this.#buffer.add(part);
    this.#isHeld ||= !scheduler.allows(Math.max(part.length, PART_BYTES), this.#onAllowed);
    this.#pump();
  }

  readonly #onAllowed = (): void => {
    this.#isHeld = false;
    this.#pump();
  };

  /** Moves what can move: first chunks to the store, then the next bytes of the socket to the buffer. */
  #pump(): void {
    const { req } = this.#parts;
    const buffer = this.#buffer;
    const isEnding = this.#hasEnded || this.#failure !== null;
    if (buffer.bytes > 0) void this.#connect();
    const goesOut = () => buffer.bytes > 0 && (buffer.isWhole || isEnding || this.#isFlushing);
    while (this.#link !== null && this.#inFlight < IN_FLIGHT && goesOut()) {
      if (!this.#window.holds(this.#sent + buffer.nextBytes)) {
        // After a failure nothing waits for space.
        if (this.#failure) buffer.clear();
        else void this.#waitForSpace();
        break;
      }
      this.#send(this.#link);
    }
    this.#isFlushing = false;
    if (isEnding && this.#inFlight === 0 && buffer.bytes === 0) return this.#settle?.();
    if (isEnding) return;
    if (buffer.isWhole || this.#isHeld) req.pause();
    else if (req.isPaused()) req.resume();
  }

  /** Takes a connection to the store, if there is none. An upload that receives nothing needs none. */
  async #connect(): Promise<void> {
    if (this.#link !== null || this.#isConnecting) return;
    const { store, request } = this.#parts;
    this.#isConnecting = true;
    try {
      this.#link = await store.link(request.file);
    } catch (error) {
      this.#buffer.clear();
      this.stop(error as Error);
    }
    this.#isConnecting = false;
    if (this.#isOver) this.#disconnect();
    else this.#pump();
  }

  #disconnect(): void {
    if (this.#link) this.#parts.store.bulk.giveBack(this.#link);
    this.#link = null;
  }

  #send(link: BulkLink): void {
    const { store, request, generation, size } = this.#parts;
    const { parts, bytes } = this.#buffer.take();
    const start = this.#sent;
    const end = start + bytes;
    const urgent = this.#isFlushing || this.#hasEnded || end === size;
    this.#sent = end;
    this.#inFlight += 1;
    store.append(link, request, { generation, start, end, parts, urgent }).then(
      (committed) => {
        this.#inFlight -= 1;
        for (const part of parts) freeMemory(part);
        this.#committed(committed, { bytes, end });
      },
      (error: unknown) => {
        this.#inFlight -= 1;
        this.#buffer.clear();
        this.stop(meaningOf(error, store));
      },
    );
  }

  #committed({ taken, notify, waiting }: Committed, { bytes, end }: { bytes: number; end: number }): void {
    const { request, notifier, onBytes } = this.#parts;
    if (taken === null) return this.stop(replaced());
    onBytes(bytes);
    this.#end = Math.max(this.#end, end);
    this.#window.moved(taken);
    this.#waitingReader = waiting;
    notifier.notify(notify, request.file);
    this.#pump();
  }

  async #waitForSpace(): Promise<void> {
    if (this.#window.isWaiting) return;
    try {
      await this.#window.waitForSpace(this.#sent);
    } catch (error) {
      if (error instanceof BatonError && error.code === 'window_full') this.#buffer.clear();
      this.stop(error as Error);
    }
    this.#pump();
  }

  #notifyWaitingReader(): void {
    this.#parts.notifier.notify(this.#waitingReader, this.#parts.request.file);
    this.#waitingReader = '';
  }

  #tick(): void {
    const { req, size } = this.#parts;
    const isQuiet = performance.now() - this.#lastMs >= LINGER_MS;
    if (isQuiet && this.#inFlight === 0) {
      if (this.#buffer.bytes > 0 && !this.#window.isWaiting) {
        this.#isFlushing = true;
        this.#pump();
      } else this.#notifyWaitingReader();
    }
    const waitsForSender = !this.#hasEnded && !req.isPaused();
    if (this.#pace.isTooSlow(waitsForSender, size - this.#sent)) this.stop(new SenderGone());
  }
}
