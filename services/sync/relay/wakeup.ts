/** A wait that ends early when it is rung. A ring that finds nobody waiting ends the next wait at once. */
export class Wakeup {
  #isRung = false;
  #wake: (() => void) | null = null;

  notify(): void {
    this.#isRung = true;
    this.#wake?.();
  }

  wait(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const done = () => {
        clearTimeout(timer);
        this.#wake = null;
        this.#isRung = false;
        resolve();
      };
      const timer = setTimeout(done, ms);
      this.#wake = done;
      if (this.#isRung) done();
    });
  }
}
