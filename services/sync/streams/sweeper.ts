import type { Stream } from './stream.ts';

/** Calls per tick; together with the tick a replica makes at most 2,000 repairs a second. */
const TICK_MS = 25;
const PER_TICK = 50;

/**
 * What failed is tried again after this, and up to twice as long; longer with each try, because in a cluster one primary
 * may be away, or refuse, for long.
 */
const AGAIN_MS = 400;
const MAX_AGAIN_MS = 4_000;

/** Calls without an answer yet: a slow store slows the sweep down. */
const MAX_IN_FLIGHT = 200;

/** After a failover the sweeps of all replicas together stay below this many a second. */
const ALL_REPLICAS_PER_SECOND = 20_000;

/** When to try again after so many failures. */
const againAt = (failures: number): number =>
  performance.now() + Math.min(MAX_AGAIN_MS, AGAIN_MS * 2 ** (failures - 1)) * (1 + Math.random());

/** Does what is due of a queue, at most so many; resolves to how many. */
function serve<T>(queue: Map<T, number>, most: number, act: (item: T) => void): number {
  const now = performance.now();
  let served = 0;
  for (const [item, at] of queue) {
    if (served >= most) break;
    if (at > now) continue;
    act(item);
    served += 1;
  }
  return served;
}

/** What `allAttached` waits for. */
interface Round {
  left: Set<Stream>;
  done: () => void;
}

interface SweeperParts {
  streams: ReadonlyMap<string, Stream>;
  sweepMs: number;
  /** Resolves to false when it cannot be done yet; it is asked for again then, by `attachSoon`. */
  attach: (stream: Stream) => Promise<boolean>;
  /** It did not succeed, and will be tried again. */
  onAttachFailed: (stream: Stream) => void;
  detach: (stream: Stream) => Promise<void>;
  /** Resolves to the ms after which to look again, 0 when settled. */
  reconcile: (account: string) => Promise<number>;
  liveReplicas: () => number;
  isUp: () => boolean;
  onFailure: (task: string, error: unknown) => void;
}

/**
 * Everything the hub does again until it succeeds: attaching streams (each once a sweep, and at once after whatever
 * may have lost an announcement), detaching closed ones, and looking again when the grace of a closed device is over.
 */
export class Sweeper {
  readonly #parts: SweeperParts;
  /** Streams to attach and to detach, and accounts to look at, each with the time before which it is not tried. */
  readonly #urgent = new Map<Stream, number>();
  /** Streams that are to be among the urgent ones when their time comes. */
  readonly #later = new Map<Stream, number>();
  readonly #closed = new Map<Stream, number>();
  readonly #looks = new Map<string, number>();
  readonly #rounds = new Set<Round>();
  #round: Iterator<Stream>;
  #due = 0;
  #tickedMs = 0;
  #inFlight = 0;
  #timer: NodeJS.Timeout | null = null;

  constructor(parts: SweeperParts) {
    this.#parts = parts;
    this.#round = parts.streams.values();
  }

  start(): void {
    this.#tickedMs = performance.now();
    this.#timer ??= setInterval(() => this.#tick(), TICK_MS);
  }

  stop(): void {
    if (this.#timer) clearInterval(this.#timer);
    this.#timer = null;
  }

  /** `cause`: for the counters, should it turn out to be behind. */
  attachSoon(stream: Stream, cause = 'again'): void {
    stream.recheckReason ??= cause;
    this.#urgent.set(stream, 0);
  }

  /** Attaches it when this time is over, and not before it for this alone. */
  attachLater(stream: Stream, inMs: number): void {
    this.#later.set(stream, performance.now() + inMs);
  }

  attachAll(cause: string): void {
    for (const stream of this.#parts.streams.values()) this.attachSoon(stream, cause);
  }

  /** After `attachAll`: resolves when each stream that is open now has been attached since, or is gone from the store. */
  allAttached(): Promise<void> {
    const left = new Set(this.#parts.streams.values());
    if (left.size === 0) return Promise.resolve();
    return new Promise((done) => this.#rounds.add({ left, done }));
  }

  /** Detaches until it is confirmed: an attach with unknown outcome must not leave a route behind. */
  detachSoon(stream: Stream): void {
    this.#urgent.delete(stream);
    this.#detach(stream);
  }

  /** A stream has closed of which the store never knew. */
  forget(stream: Stream): void {
    this.#urgent.delete(stream);
    this.#settle(stream);
  }

  /** The earliest time counts: the look itself says when it has to be repeated. */
  reconcileLater(account: string, inMs: number): void {
    this.#looks.set(account, Math.min(this.#looks.get(account) ?? Infinity, performance.now() + inMs));
  }

  /** Nothing is waiting to be told to the store any more. */
  get settled(): boolean {
    return this.#closed.size === 0 && this.#inFlight === 0;
  }

  /**
   * Each queue has its turn, however long the others are: a primary of a cluster that refuses everything must not keep
   * the streams of the others from being swept, which would be taken for dead then.
   */
  #tick(): void {
    const { streams, sweepMs, liveReplicas, isUp } = this.#parts;
    // By the time, not by ticks, which come late where there is much to do: a row that is not renewed counts as gone.
    const now = performance.now();
    const sinceMs = now - this.#tickedMs;
    this.#tickedMs = now;
    if (!isUp()) return;
    const fairShare = Math.floor((ALL_REPLICAS_PER_SECOND / liveReplicas()) * (TICK_MS / 1000));
    // Streams that close all at once are detached at once, beyond what a tick may.
    let budget = Math.max(0, Math.min(PER_TICK, fairShare, MAX_IN_FLIGHT - this.#inFlight));
    this.#due = Math.min(budget, this.#due + (streams.size * sinceMs) / sweepMs);
    for (; this.#due >= 1; this.#due -= 1, budget -= 1) {
      const stream = this.#nextInRound();
      if (stream) this.#attach('sweep', stream);
    }
    budget -= serve(this.#closed, budget / 3, (stream) => this.#detach(stream));
    budget -= serve(this.#looks, budget / 3, (account) => this.#reconcile(account));
    serve(this.#later, budget, (stream) => {
      this.#later.delete(stream);
      if (streams.has(stream.id)) this.attachSoon(stream, 'stray');
    });
    serve(this.#urgent, budget, (stream) => this.#attach('attach', stream));
  }

  /** Walks round the open streams; a Map's iterator sees additions and skips what was removed. */
  #nextInRound(): Stream | undefined {
    const step = this.#round.next();
    if (!step.done) return step.value;
    this.#round = this.#parts.streams.values();
    return this.#round.next().value;
  }

  #attach(task: string, stream: Stream): void {
    this.#urgent.delete(stream);
    this.#run(
      task,
      async () => {
        if (await this.#parts.attach(stream)) this.#settle(stream);
      },
      () => {
        if (!this.#parts.streams.has(stream.id)) return;
        this.#parts.onAttachFailed(stream);
        this.#urgent.set(stream, againAt(stream.failedAttaches));
      },
    );
  }

  #detach(stream: Stream): void {
    this.#closed.delete(stream);
    this.#run(
      'detach',
      async () => {
        await this.#parts.detach(stream);
        this.#settle(stream);
      },
      () => this.#closed.set(stream, againAt(1)),
    );
  }

  #settle(stream: Stream): void {
    // One that was under way when all were asked for may have been too early.
    if (this.#urgent.has(stream)) return;
    for (const round of this.#rounds) {
      round.left.delete(stream);
      if (round.left.size > 0) continue;
      this.#rounds.delete(round);
      round.done();
    }
  }

  #reconcile(account: string): void {
    this.#looks.delete(account);
    const again = () => this.reconcileLater(account, 1_000);
    this.#run(
      'look',
      async () => {
        const inMs = await this.#parts.reconcile(account);
        if (inMs > 0) this.reconcileLater(account, inMs);
      },
      again,
    );
  }

  #run(task: string, act: () => Promise<void>, onFailed: () => void): void {
    this.#inFlight += 1;
    act()
      .catch((error: unknown) => {
        this.#parts.onFailure(task, error);
        onFailed();
      })
      .finally(() => {
        this.#inFlight -= 1;
      });
  }
}
