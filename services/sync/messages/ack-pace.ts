import { LIMITS } from '../../../shared/contract/limits.ts';

/** So few are acknowledged at once: to take turns would cost more than they do. */
const FEW = 8;

/** Messages that a replica acknowledges in a millisecond, while acknowledgements of many wait for each other. */
const PER_MS = 5;

/** None waits longer: where more come for long, each waits for this long, and no more. */
const MOST_MS = 300;

/** Acknowledgements of an account that wait. */
interface Line {
  waiting: number;
  /** When the last of them is over. */
  freeAtMs: number;
}

/**
 * Gives acknowledgements of many messages a time each, so that messages pass between them. One of fifty takes what five
 * messages take, and devices that came back together, or have read the same, send theirs in the same moment: without this
 * every message of the replica waited for all of them. Of an account one waits in the line of all, the others behind it: they
 * hold up no other account.
 */
export class AckPace {
  #freeAtMs = 0;
  readonly #lines = new Map<string, Line>();

  /**
   * Null: this one may begin. Else it may when this resolves. `releaseSlot` is called where it waits: the account's other
   * requests need not wait with it. Of more of an account than it has devices the others keep their slots, which bounds them.
   */
  turn(account: string, messages: number, releaseSlot: () => void): Promise<void> | null {
    if (messages <= FEW) return null;
    const now = performance.now();
    const line = this.#lines.get(account);
    const atMs = Math.min(Math.max(now, line?.freeAtMs ?? this.#freeAtMs), now + MOST_MS);
    const freeAtMs = atMs + messages / PER_MS;
    if (line === undefined) this.#freeAtMs = freeAtMs;
    if (atMs <= now) return null;
    const own = line ?? { waiting: 0, freeAtMs };
    this.#lines.set(account, own);
    own.freeAtMs = freeAtMs;
    if (own.waiting < LIMITS.devicesPerAccount) releaseSlot();
    return this.#wait(account, own, atMs - now);
  }

  async #wait(account: string, line: Line, ms: number): Promise<void> {
    line.waiting += 1;
    await new Promise((resolve) => setTimeout(resolve, ms));
    line.waiting -= 1;
    if (line.waiting === 0) this.#lines.delete(account);
  }
}
