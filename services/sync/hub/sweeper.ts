import type { Stream } from './stream.ts';

/** Calls per tick; together with the tick a replica makes at most 1,000 repairs a second. */
const TICK_MS = 50;
const PER_TICK = 50;

/** Calls without an answer yet: a slow store slows the sweep down. */
const MAX_IN_FLIGHT = 200;

/** After a failover the sweeps of all replicas together stay below this many a second. */
const ALL_REPLICAS_PER_SECOND = 20_000;

interface SweeperParts {
  streams: ReadonlyMap<string, Stream>;
  sweepMs: number;
  attach: (stream: Stream) => Promise<void>;
  detach: (stream: Stream) => Promise<void>;
  /** Resolves to the ms after which to look again, 0 when settled. */
  look: (account: string) => Promise<number>;
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
  readonly #urgent = new Set<Stream>();
  readonly #closed = new Set<Stream>();
  readonly #looks = new Map<string, number>();
  #round: Iterator<Stream>;
  #owed = 0;
  #inFlight = 0;
  #timer: NodeJS.Timeout | null = null;

  constructor(parts: SweeperParts) {
    this.#parts = parts;
    this.#round = parts.streams.values();
  }

  start(): void {
    this.#timer ??= setInterval(() => this.#tick(), TICK_MS);
  }

  stop(): void {
    if (this.#timer) clearInterval(this.#timer);
    this.#timer = null;
  }

  attachSoon(stream: Stream): void {
    this.#urgent.add(stream);
  }

  attachAll(): void {
    for (const stream of this.#parts.streams.values()) this.#urgent.add(stream);
  }

  /** Detaches until it is confirmed: an attach with unknown outcome must not leave a route behind. */
  detachSoon(stream: Stream): void {
    this.#urgent.delete(stream);
    this.#closed.add(stream);
    this.#detach(stream);
  }

  lookLater(account: string, inMs: number): void {
    this.#looks.set(account, performance.now() + inMs);
  }

  /** Nothing is waiting to be told to the store any more. */
  get settled(): boolean {
    return this.#closed.size === 0 && this.#inFlight === 0;
  }

  #tick(): void {
    const { streams, sweepMs, liveReplicas, isUp, attach } = this.#parts;
    if (!isUp()) return;
    const fairShare = Math.floor((ALL_REPLICAS_PER_SECOND / liveReplicas()) * (TICK_MS / 1000));
    let budget = Math.min(PER_TICK, fairShare, MAX_IN_FLIGHT - this.#inFlight);
    for (const stream of this.#urgent) {
      if (budget-- <= 0) return;
      this.#urgent.delete(stream);
      this.#run(
        'attach',
        () => attach(stream),
        () => this.#urgent.add(stream),
      );
    }
    for (const stream of this.#closed) {
      if (budget-- <= 0) return;
      this.#detach(stream);
    }
    const now = performance.now();
    for (const [account, at] of this.#looks) {
      if (at > now) continue;
      if (budget-- <= 0) return;
      this.#look(account);
    }
    this.#owed = Math.min(budget, this.#owed + (streams.size * TICK_MS) / sweepMs);
    for (; this.#owed >= 1; this.#owed -= 1) {
      const stream = this.#nextInRound();
      if (stream)
        this.#run(
          'sweep',
          () => attach(stream),
          () => this.#urgent.add(stream),
        );
    }
  }

  /** Walks round the open streams; a Map's iterator sees additions and skips what was removed. */
  #nextInRound(): Stream | undefined {
    const step = this.#round.next();
    if (!step.done) return step.value;
    this.#round = this.#parts.streams.values();
    return this.#round.next().value;
  }

  #detach(stream: Stream): void {
    this.#closed.delete(stream);
    this.#run(
      'detach',
      () => this.#parts.detach(stream),
      () => this.#closed.add(stream),
    );
  }

  #look(account: string): void {
    this.#looks.delete(account);
    const again = () => this.lookLater(account, 1_000);
    this.#run(
      'look',
      async () => {
        const inMs = await this.#parts.look(account);
        if (inMs > 0) this.lookLater(account, inMs);
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
