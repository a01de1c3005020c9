/** A replica that lost its lease has this long to come back under a new id and attach its streams there. */
const GONE_AFTER_MS = 12_000;

/** Longer than a row of it can still count as open, and somebody has looked at it. */
const FORGOTTEN_AFTER_MS = 210_000;

/** Nobody listened so many times in a row: not just a subscriber that is being replaced. */
const SILENCES = 3;

interface Gone {
  readonly sinceMs: number;
  isTaken: boolean;
  silences: number;
}

/**
 * Ids that had a lease or a reaper, and then neither. Most were cleaned up, or are those of a replica that has another id
 * by now. But a row may come back when nobody looks for it any more (a failover loses the tail in which it was removed; a
 * store that was cut off carries out what was sent before; the set of accounts is lost before the reaper has read it):
 * an id is never used again, so that a row on its channel counts as gone once nobody listens there. Somebody does where
 * a living replica is only cut off from the leases.
 */
export class LostReplicas {
  readonly #gone = new Map<string, Gone>();
  readonly #isHeard: (id: string) => Promise<boolean>;

  /** `isHeard`: whether anybody listens on that replica's channel. */
  constructor(isHeard: (id: string) => Promise<boolean>) {
    this.#isHeard = isHeard;
  }

  /** With every reading of the lease table: the ids of the one before, and whether the new one has an id. */
  note(before: Iterable<string>, isThere: (id: string) => boolean): void {
    const now = performance.now();
    for (const id of before) {
      if (!this.#gone.has(id)) this.#gone.set(id, { sinceMs: now, isTaken: false, silences: 0 });
    }
    for (const [id, gone] of this.#gone) {
      const ageMs = now - gone.sinceMs;
      if (isThere(id) || ageMs > FORGOTTEN_AFTER_MS) this.#gone.delete(id);
      else if (ageMs >= GONE_AFTER_MS && gone.silences < SILENCES) this.#ask(id, gone);
    }
  }

  /** Those that have been gone for a while; each is named once. They may have left accounts that no counter speaks for. */
  take(): string[] {
    const now = performance.now();
    const taken = [...this.#gone].filter(([, gone]) => !gone.isTaken && now - gone.sinceMs >= GONE_AFTER_MS);
    for (const [, gone] of taken) gone.isTaken = true;
    return taken.map(([id]) => id);
  }

  /** Those on whose channel nobody listens. */
  silent(): string[] {
    return [...this.#gone].filter(([, { silences }]) => silences >= SILENCES).map(([id]) => id);
  }

  #ask(id: string, gone: Gone): void {
    this.#isHeard(id).then(
      (isHeard) => {
        gone.silences = isHeard ? 0 : gone.silences + 1;
      },
      () => undefined,
    );
  }
}
