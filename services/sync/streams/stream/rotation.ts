/** When a stream is ended to be opened anew, on whatever replica. */
export class Rotation {
  readonly #dueAtMs: number;
  #notBeforeMs: number;

  constructor(dueAtMs: number) {
    this.#dueAtMs = dueAtMs;
    this.#notBeforeMs = dueAtMs;
  }

  isDue(nowMs: number): boolean {
    return nowMs >= this.#notBeforeMs;
  }

  /** For so long it should have been. */
  overdueMs(nowMs: number): number {
    return nowMs - this.#dueAtMs;
  }

  /** Not before that. */
  postpone(untilMs: number): void {
    this.#notBeforeMs = untilMs;
  }
}
