/** A replica that lost its lease has this long to take a new id and attach its streams there. */
const LOST_AFTER_MS = 12_000;

/** For longer no row of it can count as open, and somebody has reconciled its accounts. */
const FORGOTTEN_AFTER_MS = 210_000;

/** Nobody listened at so many checks in a row: this is no subscriber that is just being replaced. */
const UNHEARD_CHECKS = 3;

interface Missing {
  readonly sinceMs: number;
  isTaken: boolean;
  /** Checks in a row that found nobody on its channel. */
  unheard: number;
}

/**
 * Ids that had a lease or a reaper, and now have neither. Most were cleaned up, or belong to a replica that has another id
 * by now. But a row of such an id may come back when nobody waits for it any more: a failover loses the tail in which it
 * was removed, a store that was cut off carries out what was sent before, or the set of accounts is lost before the
 * reaper has read it. An id is never used again, so a row on its channel counts as gone once nobody listens there.
 * Somebody does where a living replica is only cut off from the leases.
 */
export class LostReplicas {
  readonly #missing = new Map<string, Missing>();
  readonly #isHeard: (id: string) => Promise<boolean>;

  /** `isHeard`: whether anybody listens on that replica's channel. */
  constructor(isHeard: (id: string) => Promise<boolean>) {
    this.#isHeard = isHeard;
  }

  /** With every reading of the lease table: the ids of the one before, and whether the new one has an id. */
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

  /** Those that have been missing for a while; each is named once. They may have left accounts to reconcile. */
  take(): string[] {
    const now = performance.now();
    const taken = [...this.#missing].filter(([, { isTaken, sinceMs }]) => !isTaken && now - sinceMs >= LOST_AFTER_MS);
    for (const [, missing] of taken) missing.isTaken = true;
    return taken.map(([id]) => id);
  }

  /** Those on whose channel nobody listens. */
  unheard(): string[] {
    return [...this.#missing].filter(([, { unheard }]) => unheard >= UNHEARD_CHECKS).map(([id]) => id);
  }

  #check(id: string, missing: Missing): void {
    this.#isHeard(id).then(
      (isHeard) => {
        missing.unheard = isHeard ? 0 : missing.unheard + 1;
      },
      // Nobody knows: the next reading asks again.
      () => undefined,
    );
  }
}
