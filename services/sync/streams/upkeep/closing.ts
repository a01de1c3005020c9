import type { Reconciler } from '../../presence/reconciler.ts';
import type { Metrics } from '../../telemetry/metrics.ts';
import { spreadRetryMs } from './heartbeat.ts';
import type { LocalStreams } from '../local-streams.ts';
import type { StreamStore } from '../store.ts';
import type { Stream } from '../stream/stream.ts';
import type { Sweeper } from './sweeper.ts';

/** How long the last detaches may take before the sockets are cut. */
const SETTLE_MS = 5_000;

const delay = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

interface ClosingParts {
  streams: LocalStreams;
  store: Pick<StreamStore, 'detach'>;
  sweeper: Sweeper;
  reconciler: Reconciler;
  metrics: Metrics;
  graceMs: number;
}

/** Closes streams, from the last frame until the store knows of their end. */
export class Closing {
  readonly #parts: ClosingParts;
  #draining = false;

  constructor(parts: ClosingParts) {
    this.#parts = parts;
  }

  /** Whether no more streams are opened. */
  get isDraining(): boolean {
    return this.#draining;
  }

  /** Closes a stream; the sweeper detaches it if the store may have a route of it. */
  close(stream: Stream): void {
    if (!stream.close()) return;
    const { streams, sweeper, metrics } = this.#parts;
    streams.remove(stream);
    metrics.streams_closed_total.inc({ reason: stream.closeReason });
    if (stream.attaches.mayBeRouted) return sweeper.detachSoon(stream);
    // After an outage the store need not hear of the thousands of streams that it refused.
    this.#forget(stream);
    sweeper.forget(stream);
  }

  detach(stream: Stream): Promise<void> {
    return this.#parts.store.detach(stream).then(() => {
      this.#forget(stream);
      this.#parts.reconciler.noteEnd(stream.account);
    });
  }

  /**
   * Ends all streams in random order, evenly over `spreadMs`, each with its own `retry`, and refuses new ones. Resolves
   * when they are gone and the store knows of it.
   */
  async drain(spreadMs: number): Promise<void> {
    this.#draining = true;
    const { streams, sweeper } = this.#parts;
    const order = [...streams.all.values()].sort(() => Math.random() - 0.5);
    const started = performance.now();
    for (const [index, stream] of order.entries()) {
      const waitMs = started + (spreadMs * index) / order.length - performance.now();
      if (waitMs > 5) await delay(waitMs);
      stream.end('draining', spreadRetryMs(500, 3_000));
    }
    const deadline = performance.now() + SETTLE_MS;
    while (!(sweeper.settled && streams.size === 0) && performance.now() < deadline) await delay(20);
    for (const stream of streams.all.values()) stream.socket.destroy();
  }

  /**
   * Forgets a stream when the store has no open route of it. An earlier reconciliation would find the route open, and
   * no other would follow.
   */
  #forget(stream: Stream): void {
    this.#parts.streams.forget(stream);
    this.#parts.reconciler.graceBegins(stream, this.#parts.graceMs + 20);
  }
}
