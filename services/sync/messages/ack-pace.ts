/** So few are acknowledged at once: to take turns would cost more than they do. */
const FEW = 8;

/** Messages that a replica acknowledges in a millisecond, while acknowledgements of many wait for each other. */
const PER_MS = 5;

/** None waits longer: where more come for long, each waits for this long, and no more. */
const MOST_MS = 300;

/**
 * Gives acknowledgements of many messages a time each, so that messages pass between them. One of fifty takes what five
 * messages take, and devices that came back together, or have read the same, send theirs in the same moment: without this
 * every message of the replica waited for all of them.
 */
export class AckPace {
  #freeAtMs = 0;

  /** Null: this one may begin. Else it may when this resolves. */
  turn(messages: number): Promise<void> | null {
    if (messages <= FEW) return null;
    const now = performance.now();
    const atMs = Math.min(Math.max(now, this.#freeAtMs), now + MOST_MS);
    this.#freeAtMs = atMs + messages / PER_MS;
    return atMs > now ? new Promise((resolve) => setTimeout(resolve, atMs - now)) : null;
  }
}
