/**
 * A lost bell costs a second at first. Whoever has waited for long looks less and less often, so that it costs next to
 * nothing, and always well before what it waits for is forgotten.
 */
export const [CHECK_AGAIN_MS, CHECK_RARELY_MS] = [1_000, 15_000];

/**
 * A sender that has begun, and of whom nothing comes for so long, is told where its reader is, and again after twice the
 * time: the store may have lost the end of its upload after it had left.
 */
const TELL_SENDER_MS = 10_000;

/** How a reader waits for bytes: since when, when it looks again, and when its sender is told of it. */
export class Waiting {
  /** Null: it does not wait. */
  sinceMs: number | null = null;
  readonly #rarelyMs: number;
  #looksAfterMs = CHECK_AGAIN_MS;
  #tellsAfterMs = TELL_SENDER_MS;

  /** `idleMs`: after which what nobody looks at is forgotten. */
  constructor(idleMs: number) {
    this.#rarelyMs = Math.max(CHECK_AGAIN_MS, Math.min(CHECK_RARELY_MS, idleMs / 4));
  }

  /** It has looked in vain more than once. */
  get isLong(): boolean {
    return this.#looksAfterMs > CHECK_AGAIN_MS;
  }

  begin(): void {
    this.sinceMs ??= performance.now();
  }

  /** Something has come. */
  end(): void {
    this.sinceMs = null;
    this.#looksAfterMs = CHECK_AGAIN_MS;
  }

  /** Whether its sender is to be told now; not again before twice the time. */
  isTimeToTell(): boolean {
    if (this.#untilToldMs > 0) return false;
    this.#tellsAfterMs *= 2;
    return true;
  }

  /** How long until it looks again, at most `mostMs`; `tells`: also when its sender is to be told. */
  nextCheckMs(mostMs: number, tells: boolean): number {
    const ms = Math.min(this.#looksAfterMs, mostMs, tells ? this.#untilToldMs : mostMs);
    this.#looksAfterMs = Math.min(2 * this.#looksAfterMs, this.#rarelyMs);
    return Math.max(1, ms);
  }

  get #untilToldMs(): number {
    return (this.sinceMs ?? performance.now()) + this.#tellsAfterMs - performance.now();
  }
}
