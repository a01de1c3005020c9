/** So many permits; who finds none waits for one, in order. Bounds what a reconnect storm holds in memory at once. */
export class Permits {
  #free: number;
  readonly #waiting: (() => void)[] = [];

  constructor(count: number) {
    this.#free = count;
  }

  /** Null: it was there. Else it is when this resolves. Whoever takes one gives it back, whatever comes. */
  take(): Promise<void> | null {
    if (this.#free === 0) return new Promise((resolve) => this.#waiting.push(resolve));
    this.#free -= 1;
    return null;
  }

  give(): void {
    const next = this.#waiting.shift();
    if (next) next();
    else this.#free += 1;
  }
}
