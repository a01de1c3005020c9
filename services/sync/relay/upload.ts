import type { IncomingMessage } from 'node:http';
import { BatonError } from '../../../shared/contract/errors.ts';
import type { BulkLink } from '../redis/bulk/bulk-link.ts';
import { Wakeup } from './wakeup.ts';
import { meaningOf, replaced } from './chunk-faults.ts';
import { freeMemory } from './memory.ts';
import { Pace } from './pace.ts';
import type { FileRef, Holder, RelayStore } from './store.ts';
import type { FairScheduler } from './fair-scheduler.ts';

/**
 * What has come goes to the store when it is so much, in the parts that it came in (of 64 KiB at most), so that a chunk
 * with its surroundings fits an allocation of 512 KiB in Redis.
 */
const CHUNK_BYTES = 440 * 1024;

/** Parts that are smaller are joined: each costs some hundred bytes of its own, and a client chooses how small they are. */
const [SMALL_BYTES, JOINED_BYTES] = [8 * 1024, 64 * 1024];

/** What a part counts at least, of what may be moved in a turn. */
const PART_BYTES = 1024;

/** Chunks under way to the store. */
const IN_FLIGHT = 2;

/** What waits to become a chunk goes out when nothing more comes for so long. */
const LINGER_MS = 20;

/** A lost bell costs no more. */
const CHECK_AGAIN_MS = 1_000;

/** What ended an upload that nobody is there to be told of. */
export class SenderGone extends Error {}

export interface UploadParts {
  req: IncomingMessage;
  store: RelayStore;
  file: FileRef;
  generation: number;
  size: number;
  /** Where the body begins. */
  offset: number;
  taken: number;
  holder: Holder;
  windowBytes: number;
  stallMs: number;
  scheduler: FairScheduler;
  notify: (channel: string, file: FileRef) => void;
  onBytes: (bytes: number) => void;
}

/**
 * One request that sends bytes of a file. Reads its socket only as far as the receiver has room, and holds no more than
 * a few chunks itself; a body of any length is one request. What it has added stays, whatever ends it.
 */
export class Upload {
  readonly #parts: UploadParts;
  readonly #bell = new Wakeup();
  readonly #pace: Pace;
  readonly #chunkBytes: number;
  #link: BulkLink | null = null;
  /** What has come and was not handed to the store. */
  #unsent: Buffer[] = [];
  #pending = 0;
  /** Where small parts are joined, and how far it is filled; its part is the last of the unsent. */
  #joined: Buffer | null = null;
  #joinedBytes = 0;
  /** Handed to the store, and known to be there. */
  #sent: number;
  #end: number;
  #taken: number;
  #inFlight = 0;
  #isConnecting = false;
  #isOver = false;
  #isEnded = false;
  #isFlushing = false;
  /** Another turn of the event loop comes first. */
  #isHeld = false;
  #failure: Error | null = null;
  #roomSinceMs: number | null = null;
  #waiting = '';
  #lastMs = performance.now();
  #settle: (() => void) | null = null;

  constructor(parts: UploadParts) {
    this.#parts = parts;
    this.#sent = parts.offset;
    this.#end = parts.offset;
    this.#taken = parts.taken;
    this.#pace = new Pace(parts.stallMs);
    this.#chunkBytes = Math.max(1, Math.min(CHUNK_BYTES, parts.windowBytes >> 2));
  }

  /** Up to where the file is in the store. */
  get end(): number {
    return this.#end;
  }

  get bufferedBytes(): number {
    return this.#pending + Math.max(0, this.#sent - this.#end);
  }

  /** Resolves when the body is in the store; rejects with why it is not, all that can be kept of it being kept. */
  async run(): Promise<void> {
    const { req } = this.#parts;
    const tick = setInterval(() => this.#tick(), LINGER_MS);
    const onEnd = () => {
      this.#isEnded = true;
      this.#pump();
    };
    const onClose = () => {
      if (!this.#isEnded) this.stop(new SenderGone());
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
      this.#ringWaiting();
    }
    if (this.#failure) throw this.#failure;
  }

  /** There may be room, or another request in its place. */
  notify(): void {
    this.#bell.notify();
    if (this.#roomSinceMs === null && this.#failure === null) void this.#askIfReplaced();
  }

  /** Ends it with this error; what has come is still stored, unless another request sends now. */
  stop(error: Error): void {
    if (this.#failure === null) {
      this.#failure = error;
      if (error instanceof BatonError && error.code === 'upload_gone') this.#forgetPending();
      this.#parts.req.pause();
      this.#bell.notify();
    }
    this.#pump();
  }

  #take(part: Buffer): void {
    const { size, scheduler } = this.#parts;
    this.#pace.moved(part.length);
    this.#lastMs = performance.now();
    const space = size - this.#sent - this.#pending;
    if (part.length > space) {
      this.#keep(part.subarray(0, space));
      return this.stop(new BatonError('upload_length_mismatch', `The file was declared with ${size} bytes`));
    }
    this.#keep(part);
    // A part costs something however small it is.
    this.#isHeld ||= !scheduler.allows(Math.max(part.length, PART_BYTES), this.#goOn);
    this.#pump();
  }

  #keep(part: Buffer): void {
    this.#pending += part.length;
    const fits = this.#joined !== null && this.#joinedBytes + part.length <= this.#joined.length;
    if (part.length < SMALL_BYTES || fits) return this.#join(part);
    this.#joined = null;
    // In one piece, unless the window is a tiny one.
    for (let at = 0; at < part.length; at += this.#chunkBytes) {
      this.#unsent.push(part.subarray(at, at + this.#chunkBytes));
    }
  }

  #join(part: Buffer): void {
    for (let at = 0; at < part.length; ) {
      if (this.#joined === null || this.#joinedBytes === this.#joined.length) {
        this.#joined = Buffer.allocUnsafeSlow(Math.min(JOINED_BYTES, this.#chunkBytes));
        this.#joinedBytes = 0;
        this.#unsent.push(this.#joined);
      }
      const bytes = part.copy(this.#joined, this.#joinedBytes, at);
      at += bytes;
      this.#joinedBytes += bytes;
      this.#unsent[this.#unsent.length - 1] = this.#joined.subarray(0, this.#joinedBytes);
    }
  }

  /** How many parts make the next chunk, and its bytes: all there is, where that is less. */
  #nextChunk(): { count: number; bytes: number } {
    let [count, bytes] = [0, 0];
    while (bytes < this.#chunkBytes && count < this.#unsent.length) bytes += (this.#unsent[count++] as Buffer).length;
    return { count, bytes };
  }

  #forgetPending(): void {
    this.#joined = null;
    this.#unsent = [];
    this.#pending = 0;
  }

  readonly #goOn = (): void => {
    this.#isHeld = false;
    this.#pump();
  };

  get #isWhole(): boolean {
    return this.#pending >= this.#chunkBytes;
  }

  get #mayAppend(): boolean {
    return this.#link !== null && this.#pending > 0 && this.#inFlight < IN_FLIGHT;
  }

  #pump(): void {
    const { req, windowBytes } = this.#parts;
    const finishing = this.#isEnded || this.#failure !== null;
    if (this.#pending > 0) void this.#connect();
    while (this.#mayAppend && (this.#isWhole || finishing || this.#isFlushing)) {
      const { count, bytes } = this.#nextChunk();
      if (this.#sent + bytes > this.#taken + windowBytes) {
        // Nobody is there to wait for room.
        if (this.#failure) this.#forgetPending();
        else void this.#waitForRoom();
        break;
      }
      const parts = this.#unsent.splice(0, count);
      if (this.#unsent.length === 0) this.#joined = null;
      this.#pending -= bytes;
      this.#send(parts, bytes);
    }
    this.#isFlushing = false;
    if (finishing && this.#inFlight === 0 && this.#pending === 0) return this.#settle?.();
    if (finishing) return;
    if (this.#isWhole || this.#isHeld) req.pause();
    else if (req.isPaused()) req.resume();
  }

  /** A sender of whom nothing comes needs no connection to the store. */
  async #connect(): Promise<void> {
    if (this.#link !== null || this.#isConnecting) return;
    this.#isConnecting = true;
    try {
      this.#link = await this.#parts.store.link(this.#parts.file);
    } catch (error) {
      this.#forgetPending();
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

  #send(parts: readonly Buffer[], bytes: number): void {
    const { store, file, generation, holder, size, notify, onBytes } = this.#parts;
    const start = this.#sent;
    const end = start + bytes;
    const urgent = this.#isFlushing || this.#isEnded || end === size;
    this.#sent = end;
    this.#inFlight += 1;
    store
      .append(this.#link as BulkLink, file, generation, {
        ...{ start, end },
        parts,
        token: holder.token,
        urgent,
      })
      .then(
        ({ taken, notify: channel, waiting }) => {
          this.#inFlight -= 1;
          for (const part of parts) freeMemory(part);
          if (taken === null) return this.stop(replaced());
          onBytes(bytes);
          this.#end = Math.max(this.#end, end);
          this.#taken = Math.max(this.#taken, taken);
          this.#waiting = waiting;
          if (channel !== '') notify(channel, file);
          this.#pump();
        },
        (error: unknown) => {
          this.#inFlight -= 1;
          this.#forgetPending();
          this.stop(meaningOf(error, store));
        },
      );
  }

  /** A sender of whom nothing comes would not notice. */
  async #askIfReplaced(): Promise<void> {
    const { store, file, generation, holder, notify } = this.#parts;
    try {
      const { taken, notify: reader } = await store.waitWrite(file, generation, holder, 0);
      if (taken === null) this.stop(replaced());
      if (reader !== '') notify(reader, file);
    } catch {
      // Without a store its next chunk fails too.
    }
  }

  async #waitForRoom(): Promise<void> {
    if (this.#roomSinceMs !== null) return;
    const { store, file, generation, holder, windowBytes, stallMs, notify } = this.#parts;
    this.#roomSinceMs = performance.now();
    const wanted = this.#sent - (windowBytes >> 1);
    try {
      while (this.#failure === null) {
        const { taken, notify: reader } = await store.waitWrite(file, generation, holder, wanted);
        if (taken === null) return this.stop(replaced());
        if (reader !== '') notify(reader, file);
        if (taken > this.#taken) this.#roomSinceMs = performance.now();
        this.#taken = taken;
        if (taken >= wanted) break;
        if (performance.now() - this.#roomSinceMs > stallMs) {
          this.#forgetPending();
          return this.stop(new BatonError('window_full', undefined, { retryAfterSeconds: 5 }));
        }
        await this.#bell.wait(CHECK_AGAIN_MS);
      }
    } catch (error) {
      this.stop(error as Error);
    } finally {
      this.#roomSinceMs = null;
    }
    this.#pump();
  }

  #ringWaiting(): void {
    if (this.#waiting !== '') this.#parts.notify(this.#waiting, this.#parts.file);
    this.#waiting = '';
  }

  #tick(): void {
    const { req, size } = this.#parts;
    const isQuiet = performance.now() - this.#lastMs >= LINGER_MS;
    if (isQuiet && this.#pending > 0 && this.#inFlight === 0 && this.#roomSinceMs === null) {
      this.#isFlushing = true;
      this.#pump();
    } else if (isQuiet && this.#inFlight === 0 && this.#waiting !== '') {
      this.#ringWaiting();
    }
    const waitsForSender = !this.#isEnded && !req.isPaused();
    if (this.#pace.isTooSlow(waitsForSender, size - this.#sent)) this.stop(new SenderGone());
  }
}
