import { BatonError } from '../../../shared/contract/errors.ts';
import { LIMITS } from '../../../shared/contract/limits.ts';
import type { BulkLink } from '../redis/bulk/bulk-link.ts';
import type { RangeSink } from '../redis/bulk/range-reader.ts';
import { Wakeup } from './wakeup.ts';
import { Pace } from './pace.ts';
import type { DownloadParts, Start } from './reading.ts';
import type { Taken, Taking } from './store.ts';
import { CHECK_AGAIN_MS, CHECK_RARELY_MS, Waiting } from './waiting.ts';

/** What waits behind something else keeps the memory that it was read into, unless it is so small a part of it. */
const SMALL_BYTES = 32 * 1024;

/** So much together is worth ringing a waiting reader for, where the sender goes on. */
const WORTH_BYTES = 1024 * 1024;

const TICK_MS = 1_000;

/** What the receiver has taken whole is kept for so long, for one that lost it on the way. */
const AFTERWARDS_MS = 600_000;

/** What ended a download that can no longer be told of. */
export class ReceiverGone extends Error {}

/**
 * One request that reads a file as its sender sends it: passes on what the store delivers, as fast as the receiver takes
 * it, and lets go of what was taken. It outlives a lost stream: the sender is asked to go on from here.
 */
export class Download {
  readonly #parts: DownloadParts;
  readonly #bell = new Wakeup();
  readonly #pace: Pace;
  #link: BulkLink | null = null;
  #generation = 0;
  #position: number;
  #flushed: number;
  /** What the store was told of it. */
  #reported: number;
  #hasGap = false;
  #hasSenderBegun = false;
  readonly #waiting: Waiting;
  /** Another request may read now. */
  #isDoubtful = false;
  /** Why it ends early. */
  #failure: Error | null = null;
  #isComplete = false;
  /** The receiver has enough to read for now. */
  #isPaused = false;
  /** Another turn of the event loop comes first. */
  #isHeld = false;
  #hasBegun = false;

  constructor(parts: DownloadParts) {
    this.#parts = parts;
    this.#position = parts.start;
    this.#flushed = parts.start;
    this.#reported = parts.start;
    this.#pace = new Pace(parts.stallMs);
    this.#waiting = new Waiting(parts.store.idleMs);
  }

  /** The whole file was taken from its start, by this request and those before. */
  get isComplete(): boolean {
    return this.#isComplete;
  }

  /** The one that it reads. */
  get generation(): number {
    return this.#generation;
  }

  get hasBegun(): boolean {
    return this.#hasBegun;
  }

  /** Since when nothing comes from its sender; null: it does not wait. */
  get waitsSinceMs(): number | null {
    return this.#waiting.sinceMs;
  }

  /** Headers go out now, or with the first byte. */
  begin(): void {
    if (this.#hasBegun) return;
    this.#hasBegun = true;
    this.#parts.begin();
  }

  /** There may be more to read, or another request in its place. */
  notify(): void {
    this.#bell.notify();
    if (this.#isPaused) void this.#endIfReplaced();
  }

  stop(error: Error = new ReceiverGone()): void {
    this.#failure ??= error;
    this.#bell.notify();
    if (this.#isPaused) this.#link?.close();
  }

  /**
   * Resolves when the last byte has left this process, or rejects: `ReceiverGone`, or what the store said. `firstWithinMs`:
   * how long to wait for the first byte; resolves to false when there was none.
   */
  async run(firstWithinMs: number): Promise<boolean> {
    const { res } = this.#parts;
    const tick = setInterval(() => this.#tick(), TICK_MS);
    const onClose = () => this.stop();
    const onDrain = () => this.#onDrain();
    res.once('close', onClose).on('drain', onDrain);
    if (res.destroyed) this.stop();
    try {
      const { generation, rewinds, hasBytes } = await this.#untilBegun();
      this.#generation = generation;
      if (!rewinds) this.begin();
      if (hasBytes) await this.#connect();
      if (!(await this.#pass(performance.now() + firstWithinMs))) return false;
      await this.#finish();
      return true;
    } catch (error) {
      // A link that was closed under a reader says so too.
      throw this.#failure ?? error;
    } finally {
      clearInterval(tick);
      this.#note();
      res.off('close', onClose).off('drain', onDrain);
      this.#disconnect();
    }
  }

  /** Before the first byte of the upload there is nothing to ask the relay's store for. */
  async #untilBegun(): Promise<Start> {
    for (;;) {
      this.#checkGoesOn();
      const start = await this.#parts.enter();
      if (start) this.#waiting.end();
      if (start) return start;
      this.begin();
      this.#waiting.begin();
      await this.#bell.wait(this.#waiting.nextCheckMs(CHECK_RARELY_MS, false));
    }
  }

  /** A connection for bytes, as soon as there is one. Who has not begun is rather told that there is none. */
  async #connect(): Promise<void> {
    try {
      this.#link ??= await this.#parts.store.link(this.#parts.file);
    } catch (error) {
      if (!this.#hasBegun || !(error instanceof BatonError) || error.code !== 'relay_busy') throw error;
      await this.#bell.wait(CHECK_AGAIN_MS);
    }
  }

  #disconnect(): void {
    if (this.#link) this.#parts.store.bulk.giveBack(this.#link);
    this.#link = null;
  }

  #checkGoesOn(): void {
    if (this.#failure) throw this.#failure;
  }

  /** All there is to read; false when the first byte did not come in time. */
  async #pass(deadline: number): Promise<boolean> {
    while (this.#position < this.#parts.stop) {
      this.#checkGoesOn();
      if (!this.#hasBegun && performance.now() > deadline) return false;
      this.#note();
      const chunks = this.#link === null ? 0 : await this.#read(this.#link);
      this.#checkGoesOn();
      if (this.#hasGap || this.#isDoubtful) await this.#check();
      else if (chunks === 0) await this.#wait(deadline);
      if (chunks > 0) this.#waiting.end();
    }
    return true;
  }

  /** Reads on, and tells with it what was taken; the number of chunks that came. */
  #read(link: BulkLink): Promise<number> {
    const { store, file, res } = this.#parts;
    if (res.writableLength === 0) link.release();
    const taking = this.#flushed > this.#reported ? this.#taking() : null;
    const reading = { position: this.#position, sink: this.#sink, taking, hear: this.#hear };
    return store.range(link, file, this.#generation, reading);
  }

  readonly #sink: RangeSink & { skip: number } = {
    skip: 0,
    entry: (id, bytes) => {
      const end = Number(id.slice(0, id.indexOf('-')));
      const start = end - bytes;
      this.#hasGap ||= start > this.#position;
      this.#sink.skip = this.#position - start;
    },
    piece: (bytes) => {
      if (this.#hasGap || this.#failure) return false;
      const from = Math.min(bytes.length, this.#sink.skip);
      this.#sink.skip -= from;
      const left = this.#parts.stop - this.#position;
      const part = from === 0 && bytes.length <= left ? bytes : bytes.subarray(from, from + left);
      return part.length > 0 && this.#write(part);
    },
  };

  /** True: the part's memory is still needed. */
  #write(part: Buffer): boolean {
    const { res, scheduler } = this.#parts;
    this.begin();
    if (res.writableLength === 0) this.#link?.release();
    this.#position += part.length;
    const isCopied = res.writableLength > 0 && part.length < SMALL_BYTES;
    res.write(isCopied ? Buffer.from(part) : part);
    // Now, instead of in the next tick: then it has left, mostly, and its memory is free.
    res.socket?.uncork();
    const waits = res.writableLength > 0;
    this.#isPaused ||= waits && res.writableNeedDrain;
    this.#isHeld ||= !scheduler.allows(part.length, this.#goOn);
    if (this.#isPaused || this.#isHeld) this.#link?.pause();
    return waits && !isCopied;
  }

  readonly #goOn = (): void => {
    this.#isHeld = false;
    if (!this.#isPaused) this.#link?.resume();
  };

  #onDrain(): void {
    this.#note();
    if (!this.#isPaused) return;
    this.#isPaused = false;
    if (this.#parts.res.writableLength === 0) this.#link?.release();
    if (!this.#isHeld) this.#link?.resume();
  }

  #note(): void {
    const flushed = this.#position - this.#parts.res.writableLength;
    if (flushed <= this.#flushed) return;
    this.#pace.moved(flushed - this.#flushed);
    this.#parts.onBytes(flushed - this.#flushed);
    this.#flushed = flushed;
  }

  #taking(ms?: number): Taking {
    const { size, windowBytes, holder } = this.#parts;
    const keepFrom = size <= windowBytes ? 0 : Math.max(0, this.#flushed - LIMITS.relayTailBytes);
    this.#reported = this.#flushed;
    return { token: holder.token, position: this.#flushed, keepFrom, ms };
  }

  readonly #hear = ({ held, notify: channel, got }: Taken): void => {
    const { file, size, notify } = this.#parts;
    this.#isComplete = got === size;
    if (!held) {
      this.#isDoubtful = true;
      this.#bell.notify();
    }
    if (channel !== '') notify(channel, file);
  };

  /** Tells what was taken, where nothing is read that it could go with. */
  async #take(ms?: number): Promise<void> {
    this.#note();
    const { store, file } = this.#parts;
    try {
      this.#hear(await store.take(file, this.#generation, this.#taking(ms)));
    } catch {
      // The next one tells as much; without a store the read fails too.
    }
  }

  async #wait(deadline: number): Promise<void> {
    this.#note();
    // What was written since is news for the sender, who may be waiting for it.
    if (this.#link !== null || this.#flushed > this.#reported) await this.#take();
    const word = await this.#find();
    if (word === 'go') await this.#connect();
    if (word !== 'wait') return;
    const waiting = this.#waiting;
    waiting.begin();
    const tells = this.#hasSenderBegun;
    if (tells && waiting.isTimeToTell()) this.#parts.tellSender(this.#generation, this.#position);
    // What its receiver has not taken yet is told as soon as it has.
    const isSettled = this.#reported === this.#position;
    // One that has waited before has no use for a connection until there is something to read.
    if (isSettled && waiting.isLong) this.#disconnect();
    const most = this.#hasBegun ? CHECK_RARELY_MS : deadline - performance.now();
    await this.#bell.wait(waiting.nextCheckMs(isSettled ? most : Math.min(most, CHECK_AGAIN_MS), tells));
  }

  /** Something is missing, or another request reads: nobody is sent back for a reader that was replaced. */
  async #check(): Promise<void> {
    const { rewind } = this.#parts;
    const found = await this.#find();
    if (this.#hasGap && (found === 'go' || found === 'wait')) {
      this.#generation = await rewind(this.#generation, this.#position);
    }
    this.#hasGap = false;
    this.#isDoubtful = false;
  }

  /** Where the file is now; goes on in another generation where there is one. Throws `ReceiverGone` when replaced. */
  async #find(): Promise<string> {
    const { rewind, isFarBehind } = this.#parts;
    const found = await this.#ask();
    if (found.word === 'replaced') throw new ReceiverGone();
    this.#hasSenderBegun = found.hasBegun;
    if (found.word !== 'lost' && found.word !== 'newer') return found.word;
    this.#waiting.sinceMs = null;
    this.#generation = found.word === 'newer' ? found.generation : await rewind(this.#generation, this.#position);
    // Its sender may have been first, and have begun elsewhere.
    if (await isFarBehind(this.#generation, this.#position)) {
      this.#generation = await rewind(this.#generation, this.#position);
    }
    return found.word;
  }

  #ask() {
    const { store, file, holder, stop, windowBytes } = this.#parts;
    const worth = Math.min(this.#position + Math.min(WORTH_BYTES, windowBytes >> 2), stop);
    return store.waitRead(file, this.#generation, holder, this.#position, worth);
  }

  /** One whose receiver does not read would not notice. */
  async #endIfReplaced(): Promise<void> {
    try {
      if ((await this.#ask()).word === 'replaced') this.#parts.res.destroy();
    } catch {
      // Without a store its next read fails too.
    }
  }

  async #finish(): Promise<void> {
    const { res, size, windowBytes } = this.#parts;
    this.begin();
    await new Promise<void>((resolve, reject) => {
      res.once('finish', resolve).once('close', () => (res.writableFinished ? resolve() : reject(new ReceiverGone())));
      res.end();
    });
    await this.#take();
    // Smaller files can be had again for as long as those that nobody has fetched.
    if (this.#isComplete && size > windowBytes) await this.#take(AFTERWARDS_MS);
  }

  #tick(): void {
    this.#note();
    const pending = this.#parts.res.writableLength;
    if (!this.#pace.isTooSlow(pending > 0, pending)) return;
    this.#parts.res.destroy();
    this.stop();
  }
}
