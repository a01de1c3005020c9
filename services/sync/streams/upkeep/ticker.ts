/** A timer that ticks often while there is something to do, and seldom while there is not. */
export class Ticker {
  readonly #act: () => boolean;
  readonly #busyMs: number;
  readonly #quietMs: number;
  #timer: NodeJS.Timeout | null = null;
  #isQuiet = false;

  /** `act` returns whether all is quiet: the next tick comes after `quietMs` then, else after `busyMs`. */
  constructor(act: () => boolean, busyMs: number, quietMs: number) {
    this.#act = act;
    this.#busyMs = busyMs;
    this.#quietMs = quietMs;
  }

  start(): void {
    if (this.#timer === null) this.#schedule(false);
  }

  stop(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
  }

  /** There is something to do: the next tick comes after `busyMs`. */
  readonly wake = (): void => {
    if (this.#timer !== null && this.#isQuiet) this.#schedule(false);
  };

  #schedule(isQuiet: boolean): void {
    this.stop();
    this.#isQuiet = isQuiet;
    this.#timer = setTimeout(() => this.#tick(), isQuiet ? this.#quietMs : this.#busyMs);
  }

  #tick(): void {
    this.#isQuiet = false;
    const isQuiet = this.#act();
    if (this.#timer !== null) this.#schedule(isQuiet);
  }
}
