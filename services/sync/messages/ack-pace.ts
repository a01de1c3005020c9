import { LIMITS } from '../../../shared/contract/limits.ts';

/** Acknowledgements of at most this many messages do not wait, because taking turns would cost more than they do. */
const FEW = 8;

/** Messages that a replica acknowledges in a millisecond, while large acknowledgements wait for each other. */
const PER_MS = 5;

/** Longest wait: if too many come for a long time, each waits this long and no longer. */
const MOST_MS = 300;

/** Acknowledgements of an account that wait. */
interface Line {
  waiting: number;
  /** Time at which the last of them is over. */
  freeAtMs: number;
}

/**
 * Gives each large acknowledgement a separate time, so that messages pass between them. An acknowledgement of fifty
 * messages costs as much as five messages. Devices that came back together, or have read the same, send theirs at the same
 * moment, and without turns every message of the replica would wait for all of them. Only one acknowledgement of an account
 * waits in the common line; the others wait behind it and hold up no other account.
 */
export class AckPace {
  #freeAtMs = 0;
  readonly #lines = new Map<string, Line>();

  /**
   * Returns null when the acknowledgement may begin, else a promise that resolves when it may. Calls `releaseSlot` when
   * it waits, because the account's other requests need not wait with it. When more of an account wait than it may have
   * devices, the surplus keep their slots, which bounds them.
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
