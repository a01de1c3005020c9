/**
 * A notification that is lost costs a second at first. Whoever has waited for long checks less and less often, so that
 * it costs next to nothing, and always well before what it waits for expires.
 */
export const [CHECK_AGAIN_MS, CHECK_RARELY_MS] = [1_000, 15_000];

/**
 * A sender that has begun, and of whom nothing comes for so long, is notified of where its reader is, and again after
 * twice the time: the store may have lost the end of its upload after it had left.
 */
const NOTIFY_SENDER_MS = 10_000;

/** How a reader waits for bytes: since when, when it checks again, and when its sender is notified. */
export class Waiting {
  /** Null: it does not wait. */
  sinceMs: number | null = null;
  readonly #rarelyMs: number;
  #checkAfterMs = CHECK_AGAIN_MS;
  #notifyAfterMs = NOTIFY_SENDER_MS;

  /** `idleMs`: after which what nobody touches expires. */
  constructor(idleMs: number) {
    this.#rarelyMs = Math.max(CHECK_AGAIN_MS, Math.min(CHECK_RARELY_MS, idleMs / 4));
  }

  /** It has checked in vain more than once. */
  get isLong(): boolean {
    return this.#checkAfterMs > CHECK_AGAIN_MS;
  }

  begin(): void {
    this.sinceMs ??= performance.now();
  }

  /** Something has come. */
  end(): void {
    this.sinceMs = null;
    this.#checkAfterMs = CHECK_AGAIN_MS;
  }

  /** Whether its sender is to be notified now; not again before twice the time. */
  isTimeToNotify(): boolean {
    if (this.#untilNotifyMs > 0) return false;
    this.#notifyAfterMs *= 2;
    return true;
  }

  /** How long until it checks again, at most `mostMs`; `notifies`: also when its sender is to be notified. */
  nextCheckMs(mostMs: number, notifies: boolean): number {
    const ms = Math.min(this.#checkAfterMs, mostMs, notifies ? this.#untilNotifyMs : mostMs);
    this.#checkAfterMs = Math.min(2 * this.#checkAfterMs, this.#rarelyMs);
    return Math.max(1, ms);
  }

  get #untilNotifyMs(): number {
    return (this.sinceMs ?? performance.now()) + this.#notifyAfterMs - performance.now();
  }
}
