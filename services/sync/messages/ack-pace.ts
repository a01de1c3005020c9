import { LIMITS } from '../../../shared/contract/limits.ts';

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
  /** Acknowledgements that wait, by account. */
  readonly #waiting = new Map<string, number>();

  /**
   * Null: this one may begin. Else it may when this resolves. `releaseSlot` is called where it waits: the account's other
   * requests need not wait with it. Of more of an account than it has devices the others keep their slots, which bounds them.
   */
  turn(account: string, messages: number, releaseSlot: () => void): Promise<void> | null {
    if (messages <= FEW) return null;
    const now = performance.now();
    const atMs = Math.min(Math.max(now, this.#freeAtMs), now + MOST_MS);
    this.#freeAtMs = atMs + messages / PER_MS;
    return atMs > now ? this.#wait(account, atMs - now, releaseSlot) : null;
  }

  async #wait(account: string, ms: number, releaseSlot: () => void): Promise<void> {
    const others = this.#waiting.get(account) ?? 0;
    if (others < LIMITS.devicesPerAccount) releaseSlot();
    this.#waiting.set(account, others + 1);
    await new Promise((resolve) => setTimeout(resolve, ms));
    const left = (this.#waiting.get(account) ?? 1) - 1;
    if (left > 0) this.#waiting.set(account, left);
    else this.#waiting.delete(account);
  }
}
