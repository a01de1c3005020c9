/** Bytes that all relays together move in one turn of the event loop before the rest of the replica has its own. */
const BYTES_PER_ROUND = 256 * 1024;

/** Events come often when there were so many within a second. */
const [OFTEN, SECOND_MS] = [8, 1_000];

/** While events come often, relays leave the processors alone for so long after each turn. */
const PAUSE_MS = 1;

/**
 * Shares the event loop between relays and everything else: who reads beyond what a turn allows stops reading until it
 * is its turn again. Without it each ready socket is read thirty times over in one turn, and events wait for all of that.
 * One relay a turn goes on, so that it moves a piece that is worth it while the processor's caches still have it.
 */
export class FairScheduler {
  #left = BYTES_PER_ROUND;
  #isOpen = false;
  readonly #held: (() => void)[] = [];
  /** When the latest events passed, in a ring. */
  readonly #eventsMs = Array.from({ length: OFTEN }, () => Number.NEGATIVE_INFINITY);
  #oldest = 0;

  /** Counts bytes that were read. False: no more in this turn; `goOn` is called in a later one. */
  allows(bytes: number, goOn: () => void): boolean {
    this.#left -= bytes;
    this.#open();
    if (this.#left > 0) return true;
    this.#held.push(goOn);
    return false;
  }

  /** An event is on its way through this replica. */
  eventPasses(): void {
    this.#eventsMs[this.#oldest] = performance.now();
    this.#oldest = (this.#oldest + 1) % OFTEN;
  }

  get #makesWay(): boolean {
    return performance.now() - (this.#eventsMs[this.#oldest] as number) < SECOND_MS;
  }

  #open(): void {
    if (this.#isOpen) return;
    this.#isOpen = true;
    if (this.#makesWay) setTimeout(this.#next, PAUSE_MS);
    else setImmediate(this.#next);
  }

  readonly #next = (): void => {
    this.#isOpen = false;
    this.#left = BYTES_PER_ROUND;
    this.#held.shift()?.();
    if (this.#held.length > 0) this.#open();
  };
}
