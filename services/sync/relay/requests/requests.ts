import { BatonError } from '../../../../shared/contract/errors.ts';
import { LIMITS } from '../../../../shared/contract/limits.ts';
import { readWhenScraped } from '../../../../shared/service-kit/telemetry/metrics.ts';
import type { DeviceCaller } from '../../identity/caller.ts';
import type { Metrics } from '../../telemetry/metrics.ts';
import { type FileId, nameOf } from './relay-request.ts';
import { ReceiverGone } from '../download/source.ts';
import { SenderGone } from '../upload/upload.ts';

export type Direction = 'up' | 'down';

/** A request that moves bytes. */
export interface Running {
  asker: DeviceCaller;
  file: FileId;
  /** Bytes that it has read and not passed on yet. */
  bufferedBytes: () => number;
  /** Time since which it waits for a sender that sends nothing; null when it does not wait. */
  waitsSinceMs: () => number | null;
  /** Tells the request that what it waits for may have happened. */
  notify: () => void;
  /** Ends the request at an offset from which it can go on. Tells the client why, if it can still be told. */
  end: (why: BatonError) => void;
}

/**
 * Limits of the requests on one replica. For all accounts: requests and their connections to the store may use only the
 * descriptors that streams leave. For one account: twice its limit, because requests that were replaced take a moment
 * to end.
 */
const MOST = {
  all: { up: 512, down: 1_024 },
  account: { up: 2 * LIMITS.relayFiles, down: 2 * LIMITS.relayReads },
} as const;

/** How long a request that was cut may take to report to the store how far it got. */
const ENDING_MS = 5_000;

const busy = (): BatonError =>
  new BatonError('relay_busy', 'Too many files are on their way here', { retryAfterSeconds: 5 });

function outcomeOf(error: unknown): string {
  if (error instanceof BatonError) return error.code;
  return error instanceof SenderGone || error instanceof ReceiverGone ? 'gone' : 'failed';
}

/** The relay requests that are under way on this replica. */
export class Requests {
  readonly #metrics: Metrics;
  readonly #running = new Set<Running>();
  /** Number of requests, including those that are about to begin; by direction, and by direction and account. */
  readonly #counts = new Map<string, number>();
  readonly #cut = new WeakSet<Running>();
  #isDraining = false;
  #onIdle: (() => void) | null = null;

  constructor(metrics: Metrics) {
    this.#metrics = metrics;
    readWhenScraped(metrics.relay_buffered_bytes, () => this.#bufferedBytes);
  }

  get #bufferedBytes(): number {
    let bytes = 0;
    for (const { bufferedBytes } of this.#running) bytes += bufferedBytes();
    return bytes;
  }

  /** Throws `draining` when this replica takes no new requests. */
  checkOpen(): void {
    if (this.#isDraining) throw new BatonError('draining');
  }

  /**
   * Admits one more request on this replica; returns a function that gives its place back. If the replica is full, cuts
   * the download that has waited longest for its sender, which can ask again. Throws `relay_busy` when none waits, or
   * when the account has too many.
   */
  admit(direction: Direction, account: string): () => void {
    const ofAccount = `${direction} ${account}`;
    if (this.#count(ofAccount) >= MOST.account[direction]) throw busy();
    if (this.#count(direction) >= MOST.all[direction]) this.#cutLongestWaiting(direction);
    for (const name of [direction, ofAccount]) this.#counts.set(name, this.#count(name) + 1);
    return () => {
      for (const name of [direction, ofAccount]) {
        if (this.#count(name) > 1) this.#counts.set(name, this.#count(name) - 1);
        else this.#counts.delete(name);
      }
    };
  }

  #count(name: string): number {
    return this.#counts.get(name) ?? 0;
  }

  #cutLongestWaiting(direction: Direction): void {
    let [longest, sinceMs]: [Running | null, number] = [null, Number.POSITIVE_INFINITY];
    for (const running of direction === 'down' ? this.#running : []) {
      const since = this.#cut.has(running) ? null : running.waitsSinceMs();
      if (since !== null && since < sinceMs) [longest, sinceMs] = [running, since];
    }
    if (longest === null) throw busy();
    this.#cut.add(longest);
    longest.end(busy());
  }

  /**
   * Runs a request and counts it by its outcome. `act` may resolve to an error, if the client can no longer be told of
   * it.
   */
  async during(direction: Direction, running: Running, act: () => Promise<unknown>): Promise<void> {
    const { relay_active: active, relay_outcomes_total: outcomes } = this.#metrics;
    this.#running.add(running);
    active.inc({ direction });
    let outcome = 'done';
    try {
      const error = await act();
      if (error !== undefined) outcome = outcomeOf(error);
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

  notified(name: string): void {
    for (const running of this.#running) if (nameOf(running.file) === name) running.notify();
  }

  /** Ends the requests of a device that was signed out or has to authenticate again. */
  endDevice(account: string, deviceId: string | null, why: 'session_revoked' | 'unauthenticated'): void {
    for (const { asker, end } of this.#running) {
      if (asker.account === account && asker.deviceId === deviceId) end(new BatonError(why));
    }
  }

  /** Lets the requests finish within this time, then cuts them at an offset from which they can go on. */
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
