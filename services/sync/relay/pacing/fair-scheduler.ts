/** Bytes that all relays together move in one round of the event loop before everything else gets its turn. */
const BYTES_PER_ROUND = 256 * 1024;

/** Events come often when this many passed within a second. */
const [OFTEN, SECOND_MS] = [8, 1_000];

/** How long relays pause after each round while events come often. */
const PAUSE_MS = 1;

/**
 * Shares the event loop between relays and everything else: a relay that reads beyond the limit of a round stops until
 * it is called. Without that, Node reads each ready socket thirty times in one round, and events wait for all of it.
 * Only one waiting relay goes on in each round, so that it moves a large enough piece while the processor's caches hold
 * it.
 */
export class FairScheduler {
  #left = BYTES_PER_ROUND;
  #isOpen = false;
  readonly #held: (() => void)[] = [];
  /** When the latest events passed; the oldest is replaced by the next. */
  readonly #eventsMs = Array.from({ length: OFTEN }, () => Number.NEGATIVE_INFINITY);
  #oldest = 0;

  /** Counts bytes that were read. Returns false when this round allows no more; `goOn` is called in a later one. */
  allows(bytes: number, goOn: () => void): boolean {
    this.#left -= bytes;
    this.#open();
    if (this.#left > 0) return true;
    this.#held.push(goOn);
    return false;
  }

  /** Notes that an event passes through this replica. */
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
