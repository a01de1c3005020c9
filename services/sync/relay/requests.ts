import { BatonError } from '../../../shared/contract/errors.ts';
import type { DeviceCaller } from '../identity/caller.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import { type FileRef, nameOf } from './store.ts';
import { SenderGone } from './upload.ts';

/** A request that moves bytes. */
export interface Running {
  asker: DeviceCaller;
  file: FileRef;
  /** What it has read and not passed on yet. */
  bufferedBytes: () => number;
  /** What it waits for may have happened. */
  ring: () => void;
  /** Ends it, at an offset from which it can go on; says why, where that can still be told. */
  end: (why: BatonError) => void;
}

/** What was cut may still need so long to tell the store how far it got. */
const ENDING_MS = 5_000;

function outcomeOf(error: unknown): string {
  if (error instanceof BatonError) return error.code;
  return error instanceof SenderGone ? 'gone' : 'failed';
}

/** The relay requests that are under way on this replica. */
export class Requests {
  readonly #metrics: Metrics;
  readonly #running = new Set<Running>();
  #isDraining = false;
  #onIdle: (() => void) | null = null;

  constructor(metrics: Metrics) {
    this.#metrics = metrics;
    Object.assign(metrics.relay_buffered_bytes, {
      collect: () => metrics.relay_buffered_bytes.set(this.#bufferedBytes),
    });
  }

  get #bufferedBytes(): number {
    let bytes = 0;
    for (const { bufferedBytes } of this.#running) bytes += bufferedBytes();
    return bytes;
  }

  /** Throws `draining` when this replica takes no new ones. */
  checkOpen(): void {
    if (this.#isDraining) throw new BatonError('draining');
  }

  async during(direction: 'up' | 'down', running: Running, act: () => Promise<void>): Promise<void> {
    const { relay_active: active, relay_outcomes_total: outcomes } = this.#metrics;
    this.#running.add(running);
    active.inc({ direction });
    let outcome = 'done';
    try {
      await act();
    } catch (error) {
      outcome = outcomeOf(error);
      throw error;
    } finally {
      this.#running.delete(running);
      active.dec({ direction });
      outcomes.inc({ direction, outcome });
      if (this.#running.size === 0) this.#onIdle?.();
    }
  }

  rung(name: string): void {
    for (const running of this.#running) if (nameOf(running.file) === name) running.ring();
  }

  /** A device was signed out: its requests end here. */
  endDevice(account: string, deviceId: string | null): void {
    for (const { asker, end } of this.#running) {
      if (asker.account === account && asker.deviceId === deviceId) end(new BatonError('session_revoked'));
    }
  }

  /** Lets them finish for so long, then cuts them at an offset from which they can go on. */
  async drain(withinMs: number): Promise<void> {
    this.#isDraining = true;
    await this.#untilIdle(withinMs);
    for (const { end } of this.#running) end(new BatonError('draining'));
    await this.#untilIdle(ENDING_MS);
  }

  async #untilIdle(withinMs: number): Promise<void> {
    if (this.#running.size === 0) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, withinMs);
      this.#onIdle = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}
