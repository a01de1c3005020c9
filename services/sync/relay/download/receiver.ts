import type { ServerResponse } from 'node:http';
import type { BulkLink } from '../../redis/bulk/bulk-link.ts';
import type { RangeSink } from '../../redis/bulk/range-reader.ts';
import type { FairScheduler } from '../pacing/fair-scheduler.ts';
import type { ByteRange } from '../requests/headers.ts';
import { Pace } from '../pacing/pace.ts';

/**
 * A part smaller than this is copied when it has to wait in the response, so that it does not hold the link's memory.
 */
const SMALL_BYTES = 32 * 1024;

/** The answer to a download. */
export interface Answer {
  res: ServerResponse;
  /** Writes the headers, before the first byte and as soon as it is certain that there will be one. */
  begin: () => void;
}

interface ReceiverParts {
  answer: Answer;
  range: ByteRange;
  stallMs: number;
  scheduler: FairScheduler;
  onBytes: (bytes: number) => void;
}

/**
 * The receiving end of a download. It writes what a link to the store reads to the response. It pauses that link while
 * the response is full (until `drain`) or the scheduler lets others go first (until it calls). Redis keeps what nobody
 * reads, so a receiver that stops reading costs this process one piece.
 */
export class Receiver {
  readonly #parts: ReceiverParts;
  readonly #pace: Pace;
  #link: BulkLink | null = null;
  #position: number;
  #flushed: number;
  #hasBegun = false;
  #hasGap = false;
  #isOver = false;
  /** Whether the response is full. */
  #isFull = false;
  /** Whether the scheduler lets others go first. */
  #isHeld = false;
  /** Bytes of the current chunk that were written before. */
  #overlap = 0;

  constructor(parts: ReceiverParts) {
    this.#parts = parts;
    this.#position = parts.range.start;
    this.#flushed = parts.range.start;
    this.#pace = new Pace(parts.stallMs);
  }

  /** Offset up to which the file was written to the response. */
  get position(): number {
    return this.#position;
  }

  /** Offset up to which the file has left this process. */
  get flushed(): number {
    return this.#flushed;
  }

  get isAtEnd(): boolean {
    return this.#position >= this.#parts.range.stop;
  }

  get hasBegun(): boolean {
    return this.#hasBegun;
  }

  /** Whether a chunk began behind the position: the bytes between were lost. */
  get hasGap(): boolean {
    return this.#hasGap;
  }

  get isFull(): boolean {
    return this.#isFull;
  }

  begin(): void {
    if (this.#hasBegun) return;
    this.#hasBegun = true;
    this.#parts.answer.begin();
  }

  /** Sets the link that reads for this receiver from now on; null for none. */
  attach(link: BulkLink | null): void {
    this.#link = link;
  }

  /** Makes the receiver take nothing more. */
  stop(): void {
    this.#isOver = true;
  }

  forgetGap(): void {
    this.#hasGap = false;
  }

  /** The sink to which the link delivers what it reads. It drops an overlap, and takes nothing behind a gap. */
  readonly sink: RangeSink = {
    entry: (id, bytes) => {
      const end = Number(id.slice(0, id.indexOf('-')));
      const start = end - bytes;
      // Chunks behind the end of the range are read with the last one.
      this.#hasGap ||= !this.isAtEnd && start > this.#position;
      this.#overlap = this.#position - start;
    },
    piece: (bytes) => {
      if (this.#hasGap || this.#isOver) return false;
      const from = Math.min(bytes.length, this.#overlap);
      this.#overlap -= from;
      const left = this.#parts.range.stop - this.#position;
      const part = from === 0 && bytes.length <= left ? bytes : bytes.subarray(from, from + left);
      return part.length > 0 && this.#write(part);
    },
  };

  /** Writes a part to the response. Returns true when the memory of the part is still needed. */
  #write(part: Buffer): boolean {
    const { answer, scheduler } = this.#parts;
    const { res } = answer;
    this.begin();
    this.releaseMemory();
    this.#position += part.length;
    const isCopied = res.writableLength > 0 && part.length < SMALL_BYTES;
    res.write(isCopied ? Buffer.from(part) : part);
    // Uncorks now and not in the next tick: the bytes mostly leave at once, and their memory is free.
    res.socket?.uncork();
    const waits = res.writableLength > 0;
    this.#isFull ||= waits && res.writableNeedDrain;
    this.#isHeld ||= !scheduler.allows(part.length, this.#onAllowed);
    if (this.#isFull || this.#isHeld) this.#link?.pause();
    return waits && !isCopied;
  }

  /** Lets the link reuse its memory when nothing waits in the response. */
  releaseMemory(): void {
    if (this.#parts.answer.res.writableLength === 0) this.#link?.release();
  }

  readonly #onAllowed = (): void => {
    this.#isHeld = false;
    if (!this.#isFull) this.#link?.resume();
  };

  /** Reads on, because the response takes more. */
  readonly onDrain = (): void => {
    this.count();
    if (!this.#isFull) return;
    this.#isFull = false;
    this.releaseMemory();
    if (!this.#isHeld) this.#link?.resume();
  };

  /** Counts the bytes that have left since the last call. */
  count(): void {
    const flushed = this.#position - this.#parts.answer.res.writableLength;
    const bytes = flushed - this.#flushed;
    if (bytes <= 0) return;
    this.#pace.moved(bytes);
    this.#parts.onBytes(bytes);
    this.#flushed = flushed;
  }

  /** Returns whether the receiver reads so slowly that it counts as gone. Called once a second. */
  isTooSlow(): boolean {
    this.count();
    const pending = this.#parts.answer.res.writableLength;
    return this.#pace.isTooSlow(pending > 0, pending);
  }

  /** Ends the response; resolves to whether all of it has left. */
  end(): Promise<boolean> {
    const { res } = this.#parts.answer;
    this.begin();
    return new Promise((resolve) => {
      res.once('finish', () => resolve(true)).once('close', () => resolve(res.writableFinished));
      res.end();
    });
  }
}
