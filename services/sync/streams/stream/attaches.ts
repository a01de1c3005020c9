/** The attaches of one stream: what was sent of them, and what became of it. */
export class Attaches {
  #generation = 0;
  #unrefused = 0;
  #unanswered = 0;
  #sentMs = Number.NEGATIVE_INFINITY;
  #failures = 0;
  #postponed: string | undefined;

  /** An attach of it has written its route, or may have. */
  get mayBeRouted(): boolean {
    return this.#unrefused > 0;
  }

  /** One that was sent may still be carried out. */
  get mayComeLate(): boolean {
    return this.#unanswered > 0;
  }

  /** When the last one was sent, of `performance.now()`. */
  get sentMs(): number {
    return this.#sentMs;
  }

  /** An attach is sent. Returns its generation: of two the later one wins, whatever their order of arrival. */
  sent(): number {
    this.#unrefused += 1;
    this.#unanswered += 1;
    this.#sentMs = performance.now();
    return this.nextGeneration();
  }

  /** One that was sent has certainly written nothing. */
  refused(): void {
    this.#unrefused -= 1;
    this.#unanswered -= 1;
  }

  /** One that was sent once was answered: no copy of it is under way. */
  replied(): void {
    this.#unanswered -= 1;
  }

  /** For a detach, which has to come after all attaches. */
  nextGeneration(): number {
    this.#generation += 1;
    return this.#generation;
  }

  /** One more was in vain. Returns how many were, one after the other. */
  failed(): number {
    this.#failures += 1;
    return this.#failures;
  }

  /** The store has answered. */
  answered(): void {
    this.#failures = 0;
  }

  /** It is to be attached again once it is open: the attach under way may be too early. */
  postpone(cause: string): void {
    this.#postponed ??= cause;
  }

  /** The cause of the one that was postponed, undefined when none was. */
  takePostponed(): string | undefined {
    const cause = this.#postponed;
    this.#postponed = undefined;
    return cause;
  }
}
