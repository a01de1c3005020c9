import type { ServerResponse } from 'node:http';
import type { BulkLink } from '../../redis/bulk/bulk-link.ts';
import type { RangeSink } from '../../redis/bulk/range-reader.ts';
import type { FairScheduler } from '../pacing/fair-scheduler.ts';
import type { ByteRange } from '../requests/headers.ts';
import { Pace } from '../pacing/pace.ts';

/** What waits in the response keeps the memory that it was read into, unless it is so small a part of it. */
const SMALL_BYTES = 32 * 1024;

/** The answer to a download. */
export interface Answer {
  res: ServerResponse;
  /** Writes the headers: before the first byte, and as soon as it is sure that there will be one. */
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
 * The receiving end of a download: writes what a link to the store reads to the response, and pauses that link while the
 * receiver has enough to read (until `drain`) or the scheduler lets others go first (until it calls). Redis keeps what
 * nobody reads, so that a receiver that stops reading costs this process one piece.
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
  /** The response is full. */
  #isFull = false;
  /** Others are read from first. */
  #isHeld = false;
  /** Bytes of the present chunk that were written before. */
  #overlap = 0;

  constructor(parts: ReceiverParts) {
    this.#parts = parts;
    this.#position = parts.range.start;
    this.#flushed = parts.range.start;
    this.#pace = new Pace(parts.stallMs);
  }

  /** Up to where the file was written to the response. */
  get position(): number {
    return this.#position;
  }

  /** Up to where it has left this process. */
  get flushed(): number {
    return this.#flushed;
  }

  get isAtEnd(): boolean {
    return this.#position >= this.#parts.range.stop;
  }

  get hasBegun(): boolean {
    return this.#hasBegun;
  }

  /** A chunk began behind the position: what lies between was lost. */
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

  /** The link that reads for it from here on, or none. */
  attach(link: BulkLink | null): void {
    this.#link = link;
  }

  /** Takes nothing more. */
  stop(): void {
    this.#isOver = true;
  }

  forgetGap(): void {
    this.#hasGap = false;
  }

  /** Where the link delivers what it reads. An overlap is dropped, and nothing is taken behind a gap. */
  readonly sink: RangeSink = {
    entry: (id, bytes) => {
      const end = Number(id.slice(0, id.indexOf('-')));
      const start = end - bytes;
      this.#hasGap ||= start > this.#position;
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

  /** True: the part's memory is still needed. */
  #write(part: Buffer): boolean {
    const { answer, scheduler } = this.#parts;
    const { res } = answer;
    this.begin();
    this.releaseMemory();
    this.#position += part.length;
    const isCopied = res.writableLength > 0 && part.length < SMALL_BYTES;
    res.write(isCopied ? Buffer.from(part) : part);
    // Now, instead of in the next tick: then it has left, mostly, and its memory is free.
    res.socket?.uncork();
    const waits = res.writableLength > 0;
    this.#isFull ||= waits && res.writableNeedDrain;
    this.#isHeld ||= !scheduler.allows(part.length, this.#onAllowed);
    if (this.#isFull || this.#isHeld) this.#link?.pause();
    return waits && !isCopied;
  }

  /** The link may use its memory again once nothing of it waits in the response. */
  releaseMemory(): void {
    if (this.#parts.answer.res.writableLength === 0) this.#link?.release();
  }

  readonly #onAllowed = (): void => {
    this.#isHeld = false;
    if (!this.#isFull) this.#link?.resume();
  };

  /** The response takes more. */
  readonly onDrain = (): void => {
    this.count();
    if (!this.#isFull) return;
    this.#isFull = false;
    this.releaseMemory();
    if (!this.#isHeld) this.#link?.resume();
  };

  /** Counts what has left since the last time. */
  count(): void {
    const flushed = this.#position - this.#parts.answer.res.writableLength;
    const bytes = flushed - this.#flushed;
    if (bytes <= 0) return;
    this.#pace.moved(bytes);
    this.#parts.onBytes(bytes);
    this.#flushed = flushed;
  }

  /** Called once a second: it reads so slowly that it counts as gone. */
  isTooSlow(): boolean {
    this.count();
    const pending = this.#parts.answer.res.writableLength;
    return this.#pace.isTooSlow(pending > 0, pending);
  }

  /** Ends the response. Resolves to whether all of it has left. */
  end(): Promise<boolean> {
    const { res } = this.#parts.answer;
    this.begin();
    return new Promise((resolve) => {
      res.once('finish', () => resolve(true)).once('close', () => resolve(res.writableFinished));
      res.end();
    });
  }
}
