/**
 * How often a waiting request checks by itself: a lost notification costs a second at first. A request that has waited
 * for long checks less and less often, to cost next to nothing, but well before the file expires.
 */
export const [CHECK_AGAIN_MS, CHECK_RARELY_MS] = [1_000, 15_000];

/**
 * After this time without bytes, a sender that has begun is notified of its reader's position, and again after twice
 * the time. The store may have lost the end of the upload after the sender had left.
 */
const NOTIFY_SENDER_MS = 10_000;

/** How a reader waits for bytes: since when, when it checks again, and when its sender is notified. */
export class Waiting {
  /** Time since which it waits; null when it does not wait. */
  sinceMs: number | null = null;
  readonly #rarelyMs: number;
  #checkAfterMs = CHECK_AGAIN_MS;
  #notifyAfterMs = NOTIFY_SENDER_MS;

  /** `idleMs`: the time after which an untouched file expires. */
  constructor(idleMs: number) {
    this.#rarelyMs = Math.max(CHECK_AGAIN_MS, Math.min(CHECK_RARELY_MS, idleMs / 4));
  }

  /** Whether it has checked more than once without a result. */
  get isLong(): boolean {
    return this.#checkAfterMs > CHECK_AGAIN_MS;
  }

  begin(): void {
    this.sinceMs ??= performance.now();
  }

  /** Ends the wait, because something has come. */
  end(): void {
    this.sinceMs = null;
    this.#checkAfterMs = CHECK_AGAIN_MS;
  }

  /** Returns whether to notify the sender now; each time doubles the time to the next. */
  isTimeToNotify(): boolean {
    if (this.#untilNotifyMs > 0) return false;
    this.#notifyAfterMs *= 2;
    return true;
  }

  /**
   * Returns how long to wait before the next check, at most `mostMs`. With `notifies`, the wait ends at the latest when
   * it is time to notify the sender.
   */
  nextCheckMs(mostMs: number, notifies: boolean): number {
    const ms = Math.min(this.#checkAfterMs, mostMs, notifies ? this.#untilNotifyMs : mostMs);
    this.#checkAfterMs = Math.min(2 * this.#checkAfterMs, this.#rarelyMs);
    return Math.max(1, ms);
  }

  get #untilNotifyMs(): number {
    return (this.sinceMs ?? performance.now()) + this.#notifyAfterMs - performance.now();
  }
}
