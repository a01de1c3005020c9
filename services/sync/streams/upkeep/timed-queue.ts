/**
 * Work that failed is tried again after one to two times this time. The time grows with each try, because in a cluster
 * one primary may be away, or refuse, for long.
 */
const AGAIN_MS = 400;
const MAX_AGAIN_MS = 4_000;

/** Items whose times are this close together count as due at the same time. */
const SLOT_MS = 25;

const slotAt = (atMs: number): number => Math.ceil(atMs / SLOT_MS);
const slotNow = (): number => Math.floor(performance.now() / SLOT_MS);

/** Returns when to try again after this many failures. */
export const againAt = (failures: number): number =>
  performance.now() + Math.min(MAX_AGAIN_MS, AGAIN_MS * 2 ** (failures - 1)) * (1 + Math.random());

/**
 * A queue that runs each item once, and not before its time (of `performance.now()`). Items lie in slots by their time,
 * as on a timer wheel, so that a search for due items does not visit the thousands that still have to wait.
 */
export class TimedQueue<T> {
  /** The slot of each item. */
  readonly #items = new Map<T, number>();
  readonly #slots = new Map<number, Set<T>>();
  readonly #onAdded: () => void;
  /** The earliest slot with an item, or an earlier one. */
  #first = slotNow();

  constructor(onAdded: () => void) {
    this.#onAdded = onAdded;
  }

  get size(): number {
    return this.#items.size;
  }

  has(item: T): boolean {
    return this.#items.has(item);
  }

  /**
   * Sets the time of an item. An item that is due keeps its place, because an item that is added again and again would
   * never run.
   */
  add(item: T, atMs: number): void {
    const now = slotNow();
    // An item for now comes behind the items that have been due for some time.
    const slot = Math.max(slotAt(atMs), now);
    if (slot === now && (this.#items.get(item) ?? Infinity) <= now) return this.#onAdded();
    this.delete(item);
    this.#put(item, slot);
  }

  /** Sets the time of an item if it is earlier than its present one. */
  addEarlier(item: T, atMs: number): void {
    const slot = this.#items.get(item);
    if (slot === undefined || slotAt(atMs) < slot) this.add(item, atMs);
  }

  delete(item: T): void {
    const slot = this.#items.get(item);
    if (slot === undefined) return;
    this.#items.delete(item);
    const items = this.#slots.get(slot);
    items?.delete(item);
    if (items?.size === 0) this.#slots.delete(slot);
  }

  /** Takes out due items, at most `most`, and runs them; returns how many. */
  serve(most: number, act: (item: T) => void): number {
    const now = slotNow();
    let served = 0;
    while (this.#items.size > 0 && this.#first <= now) {
      for (const item of this.#slots.get(this.#first) ?? []) {
        if (served >= most) return served;
        this.delete(item);
        act(item);
        served += 1;
      }
      // An item that was added meanwhile to run at once may be in this slot.
      if (!this.#slots.has(this.#first)) this.#first += 1;
    }
    this.#first = now;
    return served;
  }

  #put(item: T, slot: number): void {
    const items = this.#slots.get(slot);
    if (items === undefined) this.#slots.set(slot, new Set([item]));
    else items.add(item);
    this.#items.set(item, slot);
    this.#onAdded();
  }
}
