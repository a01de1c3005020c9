/** How long a replica that lost its lease has to take a new id and attach its streams there. */
const LOST_AFTER_MS = 12_000;

/** After this time no row of a lost id can count as open, and another replica has reconciled its accounts. */
const FORGOTTEN_AFTER_MS = 210_000;

/** After this many checks in a row without a listener, nobody listens: a subscriber is replaced in less time. */
const UNHEARD_CHECKS = 3;

interface Missing {
  readonly sinceMs: number;
  isTaken: boolean;
  /** Checks in a row that found nobody on its channel. */
  unheard: number;
}

/**
 * Ids that had a lease or a reaper, and now have neither. Most were cleaned up, or belong to a replica that has another
 * id by now. But a row of such an id may come back when nobody expects it: a failover loses the tail in which it was
 * removed, a store that was cut off runs what was sent before, or the set of accounts is lost before the reaper has
 * read it. An id is never used again, so a row on its channel counts as gone once nobody listens there. A living
 * replica that is only cut off from the leases still listens.
 */
export class LostReplicas {
  readonly #missing = new Map<string, Missing>();
  readonly #isHeard: (id: string) => Promise<boolean>;

  /** `isHeard`: whether anybody listens on that replica's channel. */
  constructor(isHeard: (id: string) => Promise<boolean>) {
    this.#isHeard = isHeard;
  }

  /** Called with every reading of the lease table: the ids of the table before, and whether the new one has an id. */
  observe(before: Iterable<string>, isThere: (id: string) => boolean): void {
    const now = performance.now();
    for (const id of before) {
      if (!this.#missing.has(id)) this.#missing.set(id, { sinceMs: now, isTaken: false, unheard: 0 });
    }
    for (const [id, missing] of this.#missing) {
      const ageMs = now - missing.sinceMs;
      if (isThere(id) || ageMs > FORGOTTEN_AFTER_MS) this.#missing.delete(id);
      else if (ageMs >= LOST_AFTER_MS && missing.unheard < UNHEARD_CHECKS) this.#check(id, missing);
    }
  }

  /** Returns the ids that have been missing for a while, each once. They may have left accounts to reconcile. */
  take(): string[] {
    const now = performance.now();
    const taken = [...this.#missing].filter(([, { isTaken, sinceMs }]) => !isTaken && now - sinceMs >= LOST_AFTER_MS);
    for (const [, missing] of taken) missing.isTaken = true;
    return taken.map(([id]) => id);
  }

  /** Returns the ids on whose channel nobody listens. */
  unheard(): string[] {
    return [...this.#missing].filter(([, { unheard }]) => unheard >= UNHEARD_CHECKS).map(([id]) => id);
  }

  #check(id: string, missing: Missing): void {
    this.#isHeard(id).then(
      (isHeard) => {
        missing.unheard = isHeard ? 0 : missing.unheard + 1;
      },
      // The answer is unknown: the next reading asks again.
      () => undefined,
    );
  }
}
