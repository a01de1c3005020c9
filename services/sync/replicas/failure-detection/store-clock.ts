import { READ_GAP_MS } from '../lease-store.ts';

/** Time after an outage within which every open stream has been attached again: two sweeps. */
const RENEWED_WITHIN_MS = 120_000;

/** How much the clocks of the store and of this replica may drift apart between two readings. */
const CLOCK_STEP_MS = 30_000;

/** Longest round trip of a reading that counts as exact; the store's time is known to half of it. */
const EXACT_WITHIN_MS = 1_000;

/**
 * Knows how much older than usual the rows of open streams may look. A row counts as dead when it was not renewed for
 * some time by the store's clock. While the store is away nobody can renew a row, and a change of the clock adds its
 * step.
 */
export class StoreClock {
  /** How far the store's clock is ahead of this replica's monotonic one. */
  #aheadMs = Number.NaN;
  #readMs = Number.NaN;
  #lateMs = 0;
  #lateSinceMs = 0;
  #skewMs: number | null = null;

  /** How far the clock of this machine is ahead of the store's; null before the first reading. */
  get skewMs(): number | null {
    return this.#skewMs;
  }

  /** Returns Unix ms by the store's clock, or by this machine's before the first reading. */
  nowMs(): number {
    return this.#skewMs === null ? Date.now() : performance.now() + this.#aheadMs;
  }

  /** Returns how much older than usual a row may look now. */
  lateMs(): number {
    return this.#lateAt(performance.now());
  }

  /**
   * Observes a time of the store that was requested and read at these times of this replica's clock. Returns true when
   * the store's clock was set since the last reading.
   */
  observe(storeMs: number, sentMs: number, readMs: number): boolean {
    const gapMs = sentMs - this.#readMs;
    if (gapMs > READ_GAP_MS) this.#addLate(gapMs, this.#readMs);
    const stepMs = Math.abs(storeMs - readMs - this.#aheadMs);
    this.#readMs = readMs;
    this.#aheadMs = storeMs - readMs;
    // The time was read half a round trip ago; a reading that took long is too inexact.
    if (readMs - sentMs <= EXACT_WITHIN_MS || this.#skewMs === null) {
      const [wallMs, sinceMs] = [Date.now(), performance.now() - (sentMs + readMs) / 2];
      this.#skewMs = wallMs - storeMs - sinceMs;
    }
    if (!(stepMs > CLOCK_STEP_MS)) return false;
    this.#addLate(stepMs, readMs);
    return true;
  }

  /** Adds a delay that began at `sinceMs`. A row that was already late at that time is late by both delays. */
  #addLate(ms: number, sinceMs: number): void {
    this.#lateMs = Math.round(ms + this.#lateAt(sinceMs));
    this.#lateSinceMs = performance.now();
  }

  #lateAt(timeMs: number): number {
    return timeMs - this.#lateSinceMs < RENEWED_WITHIN_MS ? this.#lateMs : 0;
  }
}
