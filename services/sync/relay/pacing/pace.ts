/** Less than this in the stall time, and whoever is waited for counts as gone. */
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

  /** Called once a second or more often, with whether the peer is waited for; true when it counts as gone. */
  isTooSlow(isWaitedFor: boolean, left: number): boolean {
    const now = performance.now();
    if (!isWaitedFor || this.#sinceMs === null) {
      this.#sinceMs = now;
      this.#bytes = 0;
      return false;
    }
    if (now - this.#sinceMs < this.#stallMs) return false;
    // Whoever has nothing left to move still has to do something.
    const tooSlow = this.#bytes < Math.max(1, Math.min(LEAST_BYTES, left));
    this.#sinceMs = now;
    this.#bytes = 0;
    return tooSlow;
  }
}
