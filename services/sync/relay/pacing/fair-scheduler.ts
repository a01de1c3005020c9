/** Bytes that all relays together move in one round of the event loop before everything else has its turn. */
const BYTES_PER_ROUND = 256 * 1024;

/** Events come often when there were so many within a second. */
const [OFTEN, SECOND_MS] = [8, 1_000];

/** While events come often, relays pause for so long after each round. */
const PAUSE_MS = 1;

/**
 * Shares the event loop between relays and everything else: a relay that reads beyond what a round allows stops until it
 * is called. Without that each ready socket is read thirty times in one round, and events wait for all of it. One waiting
 * relay goes on in each round, and so moves a piece that is large enough while the caches of the processor have it.
 */
export class FairScheduler {
  #left = BYTES_PER_ROUND;
  #isOpen = false;
  readonly #held: (() => void)[] = [];
  /** When the latest events passed; the oldest is replaced by the next. */
  readonly #eventsMs = Array.from({ length: OFTEN }, () => Number.NEGATIVE_INFINITY);
  #oldest = 0;

  /** Counts bytes that were read. False: no more in this round; `goOn` is called in a later one. */
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

  get #isOften(): boolean {
    return performance.now() - (this.#eventsMs[this.#oldest] as number) < SECOND_MS;
  }

  #open(): void {
    if (this.#isOpen) return;
    this.#isOpen = true;
    if (this.#isOften) setTimeout(this.#next, PAUSE_MS);
    else setImmediate(this.#next);
  }

  readonly #next = (): void => {
    this.#isOpen = false;
    this.#left = BYTES_PER_ROUND;
    this.#held.shift()?.();
    if (this.#held.length > 0) this.#open();
  };
}
