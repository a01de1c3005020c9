/** The wall clock of every simulation begins here. */
export const BEGINS_AT_MS = Date.UTC(2026, 0, 1);

/** A party to which events happen: a replica, the store, the network, or the driver with its devices. */
export class Owner {
  readonly name: string;
  /** Nothing happens to a killed owner any more. */
  isKilled = false;
  /** Events that are due before this time happen at this time, in their order. */
  pausedUntilUs = 0;
  /** How far its wall clock is ahead of the simulation's. */
  skewMs = 0;

  constructor(name: string) {
    this.name = name;
  }
}

export interface Happening {
  atUs: number;
  readonly order: number;
  readonly owner: Owner;
  run: (() => void) | null;
}

const isBefore = (a: Happening, b: Happening): boolean => a.atUs < b.atUs || (a.atUs === b.atUs && a.order < b.order);

/** The only clock of a simulation, in whole microseconds, with a binary heap of everything that is due. */
export class SimulatedClock {
  nowUs = 0;
  readonly #heap: Happening[] = [];
  #given = 0;

  /**
   * Makes something happen to `owner` after so many microseconds. Events of the same moment happen in the order in
   * which they were given.
   */
  after(us: number, owner: Owner, run: () => void): Happening {
    this.#given += 1;
    const happening = { atUs: this.nowUs + Math.max(0, Math.round(us)), order: this.#given, owner, run };
    this.#push(happening);
    return happening;
  }

  /** Moves to the next happening and returns it; null when there is none. */
  next(): Happening | null {
    for (;;) {
      const first = this.#pop();
      if (first === null) return null;
      const { owner } = first;
      if (first.run === null || owner.isKilled) continue;
      if (owner.pausedUntilUs > first.atUs) {
        first.atUs = owner.pausedUntilUs;
        this.#push(first);
        continue;
      }
      this.nowUs = Math.max(this.nowUs, first.atUs);
      return first;
    }
  }

  #push(happening: Happening): void {
    const heap = this.#heap;
    let at = heap.length;
    for (; at > 0; ) {
      const parent = (at - 1) >> 1;
      const above = heap[parent] as Happening;
      if (!isBefore(happening, above)) break;
      heap[at] = above;
      at = parent;
    }
    heap[at] = happening;
  }

  #pop(): Happening | null {
    const heap = this.#heap;
    const [first] = heap;
    const last = heap.pop();
    if (first === undefined || last === undefined) return null;
    if (heap.length === 0) return first;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      const right = heap[child + 1];
      if (right !== undefined && isBefore(right, heap[child] as Happening)) child += 1;
      const below = heap[child];
      if (below === undefined || !isBefore(below, last)) break;
      heap[at] = below;
      at = child;
    }
    heap[at] = last;
    return first;
  }
}
