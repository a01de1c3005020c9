/**
 * What failed is tried again after this, and up to twice as long; longer with each try, because in a cluster one primary
 * may be away, or refuse, for long.
 */
const AGAIN_MS = 400;
const MAX_AGAIN_MS = 4_000;

/** When to try again after so many failures. */
export const againAt = (failures: number): number =>
  performance.now() + Math.min(MAX_AGAIN_MS, AGAIN_MS * 2 ** (failures - 1)) * (1 + Math.random());

/** Work of which each item is done once, and not before its time (of `performance.now()`). */
export class TimedQueue<T> {
  readonly #items = new Map<T, number>();
  readonly #onAdded: () => void;

  constructor(onAdded: () => void) {
    this.#onAdded = onAdded;
  }

  get size(): number {
    return this.#items.size;
  }

  has(item: T): boolean {
    return this.#items.has(item);
  }

  /** In place of the time that it had. */
  add(item: T, atMs: number): void {
    this.#items.set(item, atMs);
    this.#onAdded();
  }

  /** The earlier one of this time and the one that it has. */
  addEarlier(item: T, atMs: number): void {
    this.add(item, Math.min(this.#items.get(item) ?? Infinity, atMs));
  }

  delete(item: T): void {
    this.#items.delete(item);
  }

  /** Takes out what is due, at most so many, and does it; returns how many these were. */
  serve(most: number, act: (item: T) => void): number {
    const now = performance.now();
    let served = 0;
    for (const [item, atMs] of this.#items) {
      if (served >= most) break;
      if (atMs > now) continue;
      this.#items.delete(item);
      act(item);
      served += 1;
    }
    return served;
  }
}
