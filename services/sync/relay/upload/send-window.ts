import { BatonError } from '../../../../shared/contract/errors.ts';
import type { Notifier } from '../wakeup/notifier.ts';
import type { RelayRequest } from '../requests/relay-request.ts';
import type { RelayStore } from '../store.ts';
import { Wakeup } from '../wakeup/wakeup.ts';
import { replaced } from './chunk-faults.ts';

/** How late a sender finds space when the notification was lost. */
const CHECK_AGAIN_MS = 1_000;

export interface SendWindowParts {
  request: RelayRequest;
  generation: number;
  /** Offset up to which the receiver has taken bytes when the request begins. */
  taken: number;
  windowBytes: number;
  stallMs: number;
  store: RelayStore;
  notifier: Notifier;
}

/**
 * Decides how far a sender may be ahead of its receiver. The position of the receiver that it knows is never beyond the
 * real one, so the sender never sends more than the window holds.
 */
export class SendWindow {
  readonly #parts: SendWindowParts;
  readonly #wakeup = new Wakeup();
  #taken: number;
  #isWaiting = false;
  #isOver = false;

  constructor(parts: SendWindowParts) {
    this.#parts = parts;
    this.#taken = parts.taken;
  }

  get isWaiting(): boolean {
    return this.#isWaiting;
  }

  /** Returns whether there is space for bytes up to this offset. */
  holds(end: number): boolean {
    return end <= this.#taken + this.#parts.windowBytes;
  }

  /** Notes that the receiver has taken bytes up to this offset. */
  moved(taken: number): void {
    this.#taken = Math.max(this.#taken, taken);
  }

  /** Tells a waiting sender that there may be space, or that another request may have replaced it. */
  notify(): void {
    this.#wakeup.notify();
  }

  /** Ends the wait, because space is no longer needed. */
  end(): void {
    this.#isOver = true;
    this.#wakeup.notify();
  }

  /** Throws `upload_gone` when another request sends now. If the store does not answer, the next chunk finds out. */
  async checkHeld(): Promise<void> {
    const taken = await this.#ask(0).catch(() => undefined);
    if (taken === null) throw replaced();
  }

  /**
   * Resolves when half of the window is free behind what was sent, or when nobody needs space any more. Throws
   * `upload_gone`, and `window_full` when the receiver has taken nothing in the stall time.
   */
  async waitForSpace(sent: number): Promise<void> {
    const { windowBytes, stallMs } = this.#parts;
    const wanted = sent - (windowBytes >> 1);
    let sinceMs = performance.now();
    this.#isWaiting = true;
    try {
      while (!this.#isOver) {
        const taken = await this.#ask(wanted);
        if (taken === null) throw replaced();
        if (taken > this.#taken) sinceMs = performance.now();
        this.#taken = taken;
        if (taken >= wanted) return;
        if (performance.now() - sinceMs > stallMs) {
          throw new BatonError('window_full', undefined, { retryAfterSeconds: 5 });
        }
        await this.#wakeup.wait(CHECK_AGAIN_MS);
      }
    } finally {
      this.#isWaiting = false;
    }
  }

  /** Returns what the receiver has taken; null when another request sends now. Notifies a reader that waits. */
  async #ask(wanted: number): Promise<number | null> {
    const { store, request, generation, notifier } = this.#parts;
    const { taken, notify } = await store.waitWrite(request, { generation, wanted });
    notifier.notify(notify, request.file);
    return taken;
  }
}
