import { AttachRounds, roundAndRound } from './attach-rounds.ts';
import type { LocalStreams } from '../local-streams.ts';
import type { Stream } from '../stream/stream.ts';
import { Ticker } from './ticker.ts';
import { againAt, TimedQueue } from './timed-queue.ts';

/** Calls per tick; together with the tick a replica makes at most 2,000 repairs a second. */
const TICK_MS = 25;
const PER_TICK = 50;

/**
 * Tick while nothing waits and a sweep takes no more streams than this a tick, so that an idle replica does not wake 40
 * times a second.
 */
const QUIET_TICK_MS = 250;
const SWEPT_PER_QUIET_TICK = 25;

/**
 * Part of the sweep's time within which an attached stream is skipped. When thousands come back at once, a sweep would
 * otherwise do the work of one in ten of them twice.
 */
const FRESH = 0.25;

/** Most calls without an answer yet, so that a slow store slows the sweep down. */
const MAX_IN_FLIGHT = 200;

/**
 * Most detaches under way. When more streams close at once, each further one is detached after the answer for another.
 * Thousands of detaches at once would fill the gate, which would then refuse the streams that come back.
 */
const MAX_DETACHING = 100;

/** After a failover the sweeps of all replicas together stay below this many a second. */
const ALL_REPLICAS_PER_SECOND = 20_000;

/** The cause of an attach that nobody requested. */
const SWEEP = 'sweep';

interface SweeperParts {
  streams: Pick<LocalStreams, 'all' | 'size' | 'toEnd'>;
  sweepMs: number;
  /** Attaches a stream; resolves to false when that is not possible yet, and `attachSoon` is called later. */
  attach: (stream: Stream, cause: string) => Promise<boolean>;
  /** Called when an attach failed and will be tried again. Returns how many failed in a row. */
  onAttachFailed: (stream: Stream) => number;
  detach: (stream: Stream) => Promise<void>;
  /** Resolves to the ms after which to reconcile again, 0 when settled. */
  reconcile: (account: string) => Promise<number>;
  liveReplicas: () => number;
  isUp: () => boolean;
  onFailure: (task: string, error: unknown) => void;
}

/**
 * Decides when streams are attached (each once in one to one and a quarter sweeps, and at once after anything that may
 * have lost an announcement), closed ones are detached, and accounts are reconciled. Each is tried again until it
 * succeeds.
 */
export class Sweeper {
  readonly #parts: SweeperParts;
  readonly #ticker = new Ticker(() => this.#tick(), TICK_MS, QUIET_TICK_MS);
  readonly #attaches = new TimedQueue<Stream>(this.#ticker.wake);
  readonly #causes = new Map<Stream, string>();
  /** Streams to attach when their time comes, if they are still open. */
  readonly #later = new TimedQueue<Stream>(this.#ticker.wake);
  readonly #detaches = new TimedQueue<Stream>(this.#ticker.wake);
  readonly #reconciliations = new TimedQueue<string>(this.#ticker.wake);
  readonly #rounds = new AttachRounds();
  readonly #sweep: Iterator<Stream | undefined>;
  /** Number of streams of the sweep that are due by now. */
  #due = 0;
  #tickedMs = 0;
  #inFlight = 0;
  #detaching = 0;

  constructor(parts: SweeperParts) {
    this.#parts = parts;
    this.#sweep = roundAndRound(parts.streams);
  }

  start(): void {
    this.#tickedMs = performance.now();
    this.#ticker.start();
  }

  stop(): void {
    this.#ticker.stop();
  }

  /** Attaches a stream with the next ticks. `cause` is for the counters, if the stream turns out to be behind. */
  attachSoon(stream: Stream, cause = 'again'): void {
    if (!this.#causes.has(stream)) this.#causes.set(stream, cause);
    this.#attaches.add(stream, 0);
  }

  /** Attaches a stream after this time, unless something else attaches it before. */
  attachLater(stream: Stream, inMs: number): void {
    this.#later.add(stream, performance.now() + inMs);
  }

  /** Attaches every stream, because announcements may have been missed. */
  attachAll(cause: string): void {
    for (const stream of this.#parts.streams.all.values()) this.attachSoon(stream, cause);
  }

  /**
   * Resolves when each stream that is open now has been attached since, or is gone from the store. Called after
   * `attachAll`.
   */
  allAttached(): Promise<void> {
    return this.#rounds.begin(this.#parts.streams.all.values());
  }

  /**
   * Detaches a stream, and repeats it until it is confirmed, because an attach with unknown outcome must not leave a
   * route behind.
   */
  detachSoon(stream: Stream): void {
    this.#dropAttach(stream);
    this.#detaches.add(stream, 0);
    this.#detachNext();
  }

  /** Forgets a closed stream that the store never knew. */
  forget(stream: Stream): void {
    this.#dropAttach(stream);
    this.#rounds.settle(stream);
  }

  /**
   * Reconciles an account after this time, or earlier if an earlier time is set. The reconciliation says when to repeat
   * it.
   */
  reconcileLater(account: string, inMs: number): void {
    this.#reconciliations.addEarlier(account, performance.now() + inMs);
  }

  /** Whether the store knows of the end of every stream that has closed. */
  get settled(): boolean {
    return this.#detaches.size === 0 && this.#inFlight === 0;
  }

  /**
   * Serves each queue, however long the others are. A primary of a cluster that refuses everything must not keep the
   * streams of other primaries from being swept, because those would then be taken for dead. Returns whether the next
   * tick may be late.
   */
  #tick(): boolean {
    const { streams, sweepMs, liveReplicas, isUp } = this.#parts;
    // The share depends on the time and not on the number of ticks, which come late under load: a row that is not
    // renewed counts as gone.
    const now = performance.now();
    const sinceMs = now - this.#tickedMs;
    this.#tickedMs = now;
    if (!isUp()) return false;
    // A quiet tick gets the share of all the ticks that it stands for.
    const shareMs = Math.min(QUIET_TICK_MS, Math.max(TICK_MS, sinceMs));
    const fairShare = Math.floor((ALL_REPLICAS_PER_SECOND / liveReplicas()) * (shareMs / 1000));
    let budget = Math.max(0, Math.min(PER_TICK, fairShare, MAX_IN_FLIGHT - this.#inFlight));
    this.#due = Math.min(budget, this.#due + (streams.size * sinceMs) / sweepMs);
    for (; this.#due >= 1; this.#due -= 1) {
      const { value: stream } = this.#sweep.next();
      if (stream === undefined || now - stream.attaches.sentMs < sweepMs * FRESH) continue;
      this.#attach('sweep', stream);
      budget -= 1;
    }
    budget -= this.#detaches.serve(budget / 3, (stream) => this.#detach(stream));
    budget -= this.#reconciliations.serve(budget / 3, (account) => this.#reconcile(account));
    this.#later.serve(budget, (stream) => streams.all.has(stream.id) && this.attachSoon(stream, 'stray'));
    this.#attaches.serve(budget, (stream) => this.#attach('attach', stream));
    if ((streams.size * QUIET_TICK_MS) / sweepMs > SWEPT_PER_QUIET_TICK) return false;
    return this.#attaches.size + this.#later.size + this.#detaches.size + this.#reconciliations.size === 0;
  }

  /** Drops a queued attach, and returns its cause. */
  #dropAttach(stream: Stream): string {
    const cause = this.#causes.get(stream) ?? SWEEP;
    this.#causes.delete(stream);
    this.#attaches.delete(stream);
    return cause;
  }

  #attach(task: string, stream: Stream): void {
    const cause = this.#dropAttach(stream);
    this.#run(
      task,
      this.#parts.attach(stream, cause),
      (isDone) => {
        // An attach that was under way when all were requested may have been too early.
        if (isDone && !this.#attaches.has(stream)) this.#rounds.settle(stream);
      },
      () => {
        if (!this.#parts.streams.all.has(stream.id)) return;
        if (cause !== SWEEP) this.#causes.set(stream, cause);
        this.#attaches.add(stream, againAt(this.#parts.onAttachFailed(stream)));
      },
    );
  }

  /**
   * Detaches more streams than the limit of a tick: each answer starts the next detach. This stops while the store is
   * away, and a later tick starts it again.
   */
  #detachNext(): void {
    if (!this.#parts.isUp()) return;
    this.#detaches.serve(MAX_DETACHING - this.#detaching, (stream) => this.#detach(stream));
  }

  #detach(stream: Stream): void {
    this.#detaching += 1;
    const over = (): void => {
      this.#detaching -= 1;
      this.#detachNext();
    };
    this.#run(
      'detach',
      this.#parts.detach(stream),
      () => {
        this.#rounds.settle(stream);
        over();
      },
      () => {
        this.#detaches.add(stream, againAt(1));
        over();
      },
    );
  }

  #reconcile(account: string): void {
    this.#run(
      'reconcile',
      this.#parts.reconcile(account),
      (inMs) => {
        if (inMs > 0) this.reconcileLater(account, inMs);
      },
      () => this.reconcileLater(account, 1_000),
    );
  }

  #run<T>(task: string, call: Promise<T>, onDone: (result: T) => void, onFailed: () => void): void {
    this.#inFlight += 1;
    call.then(
      (result) => {
        this.#inFlight -= 1;
        onDone(result);
      },
      (error: unknown) => {
        this.#inFlight -= 1;
        this.#parts.onFailure(task, error);
        onFailed();
      },
    );
  }
}
