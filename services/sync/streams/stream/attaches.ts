/** The attaches of one stream: which were sent, and their results. */
export class Attaches {
  #number = 0;
  #unrefused = 0;
  #unanswered = 0;
  #sentMs = Number.NEGATIVE_INFINITY;
  #failures = 0;
  #postponed: string | undefined;

  /** Whether an attach has written the stream's route, or may have. */
  get mayBeRouted(): boolean {
    return this.#unrefused > 0;
  }

  /** Whether the store may still run an attach that was sent. */
  get mayComeLate(): boolean {
    return this.#unanswered > 0;
  }

  /** Time of the last attach, by `performance.now()`. */
  get sentMs(): number {
    return this.#sentMs;
  }

  /**
   * Notes that an attach is sent, and returns its attach number. The later of two attaches wins, whatever their order of
   * arrival.
   */
  sent(): number {
    this.#unrefused += 1;
    this.#unanswered += 1;
    this.#sentMs = performance.now();
    return this.nextNumber();
  }

  /** Notes that an attach has certainly written nothing. */
  refused(): void {
    this.#unrefused -= 1;
    this.#unanswered -= 1;
  }

  /** Notes that an attach that was sent only once was answered, so that no copy of it is under way. */
  replied(): void {
    this.#unanswered -= 1;
  }

  /** Returns the next attach number. A detach takes one too, because it has to come after all attaches. */
  nextNumber(): number {
    this.#number += 1;
    return this.#number;
  }

  /** Notes a failed attach, and returns how many failed in a row. */
  failed(): number {
    this.#failures += 1;
    return this.#failures;
  }

  /** Notes that the store has answered. */
  answered(): void {
    this.#failures = 0;
  }

  /** Postpones another attach until the stream is open, because the attach under way may be too early. */
  postpone(cause: string): void {
    this.#postponed ??= cause;
  }

  /** Takes the cause of the postponed attach, undefined when there is none. */
  takePostponed(): string | undefined {
    const cause = this.#postponed;
    this.#postponed = undefined;
    return cause;
  }
}
