import { READ_GAP_MS } from '../lease-store.ts';

/** Within this time after an outage every open stream has been attached again: two sweeps. */
const RENEWED_WITHIN_MS = 120_000;

/** The store's clock and ours may drift apart by this much between two readings. */
const CLOCK_STEP_MS = 30_000;

/** What the store's clock said is known as exactly as half of this. */
const EXACT_WITHIN_MS = 1_000;

/**
 * How much older than usual the rows of open streams may look. A row counts as dead when it was not renewed for some
 * time of the store's clock. While the store is away nobody can renew one, and a clock that was set adds its step.
 */
export class StoreClock {
  /** How far the store's clock is ahead of our monotonic one. */
  #aheadMs = Number.NaN;
  #readMs = Number.NaN;
  #lateMs = 0;
  #lateSinceMs = 0;
  #skewMs: number | null = null;

  /** How far the clock of this machine is ahead of the store's; null before the first reading. */
  get skewMs(): number | null {
    return this.#skewMs;
  }

  /** Unix ms by the store's clock; by our own before the first reading. */
  nowMs(): number {
    return this.#skewMs === null ? Date.now() : performance.now() + this.#aheadMs;
  }

  /** So much older than usual may a row look now. */
  lateMs(): number {
    return this.#lateAt(performance.now());
  }

  /**
   * Takes a time of the store, asked for and read at these times of our clock. True: the store's clock was set since the
   * last reading.
   */
  observe(storeMs: number, sentMs: number, readMs: number): boolean {
    const gapMs = sentMs - this.#readMs;
    if (gapMs > READ_GAP_MS) this.#addLate(gapMs, this.#readMs);
    const stepMs = Math.abs(storeMs - readMs - this.#aheadMs);
    this.#readMs = readMs;
    this.#aheadMs = storeMs - readMs;
    // Read half a round trip ago; one that took long says too little.
    if (readMs - sentMs <= EXACT_WITHIN_MS || this.#skewMs === null) {
      const [wallMs, sinceMs] = [Date.now(), performance.now() - (sentMs + readMs) / 2];
      this.#skewMs = wallMs - storeMs - sinceMs;
    }
    if (!(stepMs > CLOCK_STEP_MS)) return false;
    this.#addLate(stepMs, readMs);
    return true;
  }

  /** A row that was late already at `sinceMs`, when this began, is late by both. */
  #addLate(ms: number, sinceMs: number): void {
    this.#lateMs = Math.round(ms + this.#lateAt(sinceMs));
    this.#lateSinceMs = performance.now();
  }

  #lateAt(timeMs: number): number {
    return timeMs - this.#lateSinceMs < RENEWED_WITHIN_MS ? this.#lateMs : 0;
  }
}
