/** When a stream is ended so that its client opens it again, on any replica. */
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

  /** Returns how long the rotation has been due. */
  overdueMs(nowMs: number): number {
    return nowMs - this.#dueAtMs;
  }

  /** Postpones the rotation until this time. */
  postpone(untilMs: number): void {
    this.#notBeforeMs = untilMs;
  }
}
