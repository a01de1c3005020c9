/**
 * A number of permits. A caller that finds none waits for one, in order. They bound what a reconnect storm holds in
 * memory at once.
 */
export class Permits {
  #free: number;
  readonly #waiting: (() => void)[] = [];

  constructor(count: number) {
    this.#free = count;
  }

  /**
   * Takes a permit: returns null if one was free, else a promise that resolves when the caller has one. The caller
   * always gives it back.
   */
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
