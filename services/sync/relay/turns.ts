/** Bytes that all relays together move in one turn of the event loop before the rest of the replica has its own. */
const BYTES_A_TURN = 512 * 1024;

/**
 * Shares the event loop between relays and everything else: who reads beyond what a turn allows stops reading until the
 * next one. Without it each ready socket is read thirty times over in one turn, and events wait for all of that.
 */
export class Turns {
  #left = BYTES_A_TURN;
  #isOpen = false;
  readonly #held: (() => void)[] = [];

  /** Counts bytes that were read. False: no more in this turn; `goOn` is called in the next one. */
  allows(bytes: number, goOn: () => void): boolean {
    this.#left -= bytes;
    if (!this.#isOpen) {
      this.#isOpen = true;
      setImmediate(() => this.#next());
    }
    if (this.#left > 0) return true;
    this.#held.push(goOn);
    return false;
  }

  #next(): void {
    this.#isOpen = false;
    this.#left = BYTES_A_TURN;
    for (const goOn of this.#held.splice(0)) goOn();
  }
}
