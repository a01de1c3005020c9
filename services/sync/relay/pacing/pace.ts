/** A peer that moves less than this in the stall time, while it is waited for, counts as gone. */
const LEAST_BYTES = 64 * 1024;

/**
 * Watches one peer: while it is waited for, it has to move some bytes in each stall time. Time in which nobody waits
 * for it does not count.
 */
export class Pace {
  readonly #stallMs: number;
  #bytes = 0;
  #sinceMs: number | null = null;

  constructor(stallMs: number) {
    this.#stallMs = stallMs;
  }

  moved(bytes: number): void {
    this.#bytes += bytes;
  }

  /**
   * Returns whether the peer counts as gone. Called once a second or more often, with whether the peer is waited for.
   */
  isTooSlow(isWaitedFor: boolean, left: number): boolean {
    const now = performance.now();
    if (!isWaitedFor || this.#sinceMs === null) {
      this.#sinceMs = now;
      this.#bytes = 0;
      return false;
    }
    if (now - this.#sinceMs < this.#stallMs) return false;
    // A peer with fewer bytes left has to move only those, but at least one byte.
    const tooSlow = this.#bytes < Math.max(1, Math.min(LEAST_BYTES, left));
    this.#sinceMs = now;
    this.#bytes = 0;
    return tooSlow;
  }
}
