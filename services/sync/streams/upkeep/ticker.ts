/** A timer that ticks often while there is something to do, and rarely otherwise. */
export class Ticker {
  readonly #act: () => boolean;
  readonly #busyMs: number;
  readonly #quietMs: number;
  #timer: NodeJS.Timeout | null = null;
  #isQuiet = false;

  /** `act` returns whether all is quiet: then the next tick comes after `quietMs`, else after `busyMs`. */
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

  /** Makes the next tick come after `busyMs`, because there is something to do. */
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
