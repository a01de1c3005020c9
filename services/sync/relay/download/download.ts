import type { ServerResponse } from 'node:http';
import { BatonError } from '../../../../shared/contract/errors.ts';
import { LIMITS } from '../../../../shared/contract/limits.ts';
import type { BulkLink } from '../../redis/bulk/bulk-link.ts';
import type { Notifier } from '../wakeup/notifier.ts';
import type { RelayRequest } from '../requests/relay-request.ts';
import type { RelayStore, Taken, Taking } from '../store.ts';
import { Wakeup } from '../wakeup/wakeup.ts';
import type { Receiver } from './receiver.ts';
import { ReceiverGone, type Source } from './source.ts';
import { CHECK_AGAIN_MS, CHECK_RARELY_MS, Waiting } from './waiting.ts';

const TICK_MS = 1_000;

/** How long a file is kept after the receiver has taken all of it, in case it was lost on the way. */
const AFTERWARDS_MS = 600_000;

export interface DownloadParts {
  request: RelayRequest;
  res: ServerResponse;
  size: number;
  source: Source;
  receiver: Receiver;
  store: RelayStore;
  notifier: Notifier;
  windowBytes: number;
}

/**
 * One request that reads a file while its sender sends it, and tells the store what was taken. It survives a store that
 * lost the bytes: it asks the sender to go on from the position of this request.
 *
 *   waiting for the upload --begun--> reading --nothing there--> waiting for bytes --notified, or time to check--> reading
 *     reading --gap, or perhaps replaced--> checking --> reading (behind a gap: in the next generation)
 *     reading --receiver full--> paused --drain--> reading
 *     reading --all written--> finishing --all has left--> done
 *     reading, waiting for bytes --no first byte in time--> given up
 *     any --stop (receiver closed, too slow or replaced, transfer over), or the store fails--> failed
 */
export class Download {
  readonly #parts: DownloadParts;
  readonly #wakeup = new Wakeup();
  readonly #waiting: Waiting;
  #link: BulkLink | null = null;
  /** Offset that was last reported to the store as taken. */
  #reported: number;
  /** Whether another request may have replaced this one. */
  #maybeReplaced = false;
  /** Error that ends the download early. */
  #failure: Error | null = null;
  #isComplete = false;

  constructor(parts: DownloadParts) {
    this.#parts = parts;
    this.#reported = parts.receiver.position;
    this.#waiting = new Waiting(parts.store.idleMs);
  }

  /** Whether this request and those before it have taken the whole file from its start. */
  get isComplete(): boolean {
    return this.#isComplete;
  }

  /** Time since which nothing has come from the sender; null when the download does not wait. */
  get waitsSinceMs(): number | null {
    return this.#waiting.sinceMs;
  }

  /** Tells the download that there may be more to read, or that another request may have replaced it. */
  notify(): void {
    this.#wakeup.notify();
    if (this.#parts.receiver.isFull) void this.#endIfReplaced();
  }

  stop(error: Error = new ReceiverGone()): void {
    const { receiver } = this.#parts;
    this.#failure ??= error;
    receiver.stop();
    this.#wakeup.notify();
    if (receiver.isFull) this.#link?.close();
  }

  /**
   * Resolves to true when the last byte has left this process, or to false when no first byte came within
   * `firstWithinMs`. Rejects with `ReceiverGone`, or with the error of the store.
   */
  async run(firstWithinMs: number): Promise<boolean> {
    const { res, receiver } = this.#parts;
    const tick = setInterval(() => this.#tick(), TICK_MS);
    const onClose = () => this.stop();
    res.once('close', onClose).on('drain', receiver.onDrain);
    if (res.destroyed) this.stop();
    try {
      const { awaitsSender, hasBytes } = await this.#untilBegun();
      if (!awaitsSender) receiver.begin();
      if (hasBytes) await this.#connect();
      if (!(await this.#readAll(performance.now() + firstWithinMs))) return false;
      await this.#finish();
      return true;
    } catch (error) {
      // Closing a link under a reader also throws, but `#failure` is the cause.
      throw this.#failure ?? error;
    } finally {
      clearInterval(tick);
      receiver.count();
      res.off('close', onClose).off('drain', receiver.onDrain);
      this.#disconnect();
    }
  }

  /** Waits until the upload has begun. Before its first byte the relay's store has nothing to ask for. */
  async #untilBegun() {
    const { source, receiver } = this.#parts;
    for (;;) {
      this.#checkGoesOn();
      const start = await source.enter();
      if (start) {
        this.#waiting.end();
        return start;
      }
      receiver.begin();
      this.#waiting.begin();
      await this.#wakeup.wait(this.#waiting.nextCheckMs(CHECK_RARELY_MS, false));
    }
  }

  /**
   * Takes a connection for bytes. If none is free, a response that has begun waits, and any other request is refused.
   */
  async #connect(): Promise<void> {
    const { store, request, receiver } = this.#parts;
    try {
      this.#link ??= await store.link(request.file);
      receiver.attach(this.#link);
    } catch (error) {
      if (!receiver.hasBegun || !(error instanceof BatonError) || error.code !== 'relay_busy') throw error;
      await this.#wakeup.wait(CHECK_AGAIN_MS);
    }
  }

  #disconnect(): void {
    this.#parts.receiver.attach(null);
    if (this.#link) this.#parts.store.bulk.giveBack(this.#link);
    this.#link = null;
  }

  #checkGoesOn(): void {
    if (this.#failure) throw this.#failure;
  }

  /** Reads to the end; resolves to false when the first byte did not come in time. */
  async #readAll(deadlineMs: number): Promise<boolean> {
    const { receiver } = this.#parts;
    while (!receiver.isAtEnd) {
      this.#checkGoesOn();
      if (!receiver.hasBegun && performance.now() > deadlineMs) return false;
      receiver.count();
      const chunks = this.#link === null ? 0 : await this.#read(this.#link);
      this.#checkGoesOn();
      if (receiver.hasGap || this.#maybeReplaced) await this.#check();
      else if (chunks === 0) await this.#wait(deadlineMs);
      if (chunks > 0) this.#waiting.end();
    }
    this.#checkGoesOn();
    return true;
  }

  /** Reads on, and reports what was taken in the same write. Resolves to the number of chunks that came. */
  #read(link: BulkLink): Promise<number> {
    const { store, request, source, receiver } = this.#parts;
    receiver.releaseMemory();
    const taking = receiver.flushed > this.#reported ? this.#taking() : null;
    const { position, sink } = receiver;
    const reading = { generation: source.generation, position, sink, taking, onTaken: this.#onTaken };
    return store.range(link, request, reading);
  }

  #taking(liveMs?: number): Taking {
    const { source, receiver, size, windowBytes } = this.#parts;
    const position = receiver.flushed;
    const keepFrom = size <= windowBytes ? 0 : Math.max(0, position - LIMITS.relayTailBytes);
    this.#reported = position;
    return { generation: source.generation, position, keepFrom, liveMs };
  }

  readonly #onTaken = ({ held, notify, got }: Taken): void => {
    const { request, size, notifier } = this.#parts;
    this.#isComplete = got === size;
    if (!held) {
      this.#maybeReplaced = true;
      this.#wakeup.notify();
    }
    notifier.notify(notify, request.file);
  };

  /** Reports what was taken when there is no read to report it with. */
  async #report(liveMs?: number): Promise<void> {
    const { store, request, receiver } = this.#parts;
    receiver.count();
    try {
      this.#onTaken(await store.take(request, this.#taking(liveMs)));
    } catch {
      // The next report repeats this one. Without a store the next read fails too.
    }
  }

  async #wait(deadlineMs: number): Promise<void> {
    const { source, receiver } = this.#parts;
    receiver.count();
    // The sender may be waiting for the space that was freed meanwhile.
    if (this.#link !== null || receiver.flushed > this.#reported) await this.#report();
    const found = await source.find(receiver.position);
    const waiting = this.#waiting;
    if (found === 'moved') waiting.sinceMs = null;
    if (found === 'bytes') await this.#connect();
    if (found !== 'nothing') return;
    waiting.begin();
    const notifies = source.hasSenderBegun;
    if (notifies && waiting.isTimeToNotify()) source.notifySender(receiver.position);
    // While bytes are not taken or not reported yet, it checks often, to report them as soon as they are taken.
    const isSettled = this.#reported === receiver.position;
    // A download that has waited for long needs no connection until there is something to read.
    if (isSettled && waiting.isLong) this.#disconnect();
    const mostMs = receiver.hasBegun ? CHECK_RARELY_MS : deadlineMs - performance.now();
    await this.#wakeup.wait(waiting.nextCheckMs(isSettled ? mostMs : Math.min(mostMs, CHECK_AGAIN_MS), notifies));
  }

  /** Checks a gap or a replacement. The sender does not go back for a reader that was replaced. */
  async #check(): Promise<void> {
    const { source, receiver } = this.#parts;
    const found = await source.find(receiver.position);
    if (found === 'moved') this.#waiting.sinceMs = null;
    else if (receiver.hasGap) await source.rewind(receiver.position);
    receiver.forgetGap();
    this.#maybeReplaced = false;
  }

  /** Ends a download that was replaced while its receiver does not read, because it would not notice otherwise. */
  async #endIfReplaced(): Promise<void> {
    const { source, receiver, res } = this.#parts;
    try {
      if (await source.isReplaced(receiver.position)) res.destroy();
    } catch {
      // Without a store the next read fails too.
    }
  }

  async #finish(): Promise<void> {
    const { receiver, size, windowBytes } = this.#parts;
    if (!(await receiver.end())) throw new ReceiverGone();
    await this.#report();
    // Smaller files stay available as long as files that nobody has fetched.
    if (this.#isComplete && size > windowBytes) await this.#report(AFTERWARDS_MS);
  }

  #tick(): void {
    if (!this.#parts.receiver.isTooSlow()) return;
    this.#parts.res.destroy();
    this.stop();
  }
}
