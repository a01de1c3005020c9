import { BEAT_MS, type LeaseTable, READ_GAP_MS } from '../lease-store.ts';
import { LostReplicas } from './lost-replicas.ts';

/** How long a counter may stay unchanged: a little less than three beats, because a timer may fire early. */
const DEAD_AFTER_MS = 3 * BEAT_MS - 100;

/** A reading that took longer than this proves nothing about the others. */
const SLOW_READ_MS = 1_000;

interface FailureDetectorParts {
  ownId: () => string;
  channelOf: (id: string) => string;
  /** Whether anybody listens on that replica's channel. */
  isHeard: (id: string) => Promise<boolean>;
}

interface Observation {
  counter: string;
  /** Time at which this counter was first read. */
  sinceMs: number;
}

/**
 * Finds out which replicas are alive from the lease table, which is read with every beat. A replica is dead when its
 * counter stood still for 6 s of THIS replica's monotonic clock, and every reading in between succeeded. So neither a
 * failover of the store nor a paused host makes a living replica dead. The routes of replicas that are being reaped, or
 * are lost, count as gone.
 */
export class FailureDetector {
  readonly #parts: FailureDetectorParts;
  readonly #lost: LostReplicas;
  readonly #observed = new Map<string, Observation>();
  #counters: ReadonlyMap<string, string> = new Map();
  #reaping: ReadonlyMap<string, string> = new Map();
  #deadChannels: ReadonlySet<string> = new Set();
  #joinedDeadChannels = '';
  #readMs = Number.NEGATIVE_INFINITY;

  constructor(parts: FailureDetectorParts) {
    this.#parts = parts;
    this.#lost = new LostReplicas(parts.isHeard);
  }

  /** Number of replicas that seem alive, including this one. */
  get live(): number {
    return Math.max(1, this.#counters.size);
  }

  /** Channels of replicas whose routes count as gone, joined by line ends. */
  get deadChannels(): string {
    return this.#joinedDeadChannels;
  }

  /** Returns the living replicas except this one. */
  others(): string[] {
    const ownId = this.#parts.ownId();
    return [...this.#counters.keys()].filter((id) => id !== ownId);
  }

  isDeadChannel(channel: string): boolean {
    return this.#deadChannels.has(channel);
  }

  /** Returns the channels of all replicas that hold a lease in the latest table, and of this one. */
  channels(): string[] {
    return [...new Set([this.#parts.ownId(), ...this.#counters.keys()])].map(this.#parts.channelOf);
  }

  /** Returns the counter of a replica in the latest table. */
  counterOf(id: string): string | undefined {
    return this.#counters.get(id);
  }

  /** Drops all observations, because after a failed reading they prove nothing. */
  restartWindow(): void {
    this.#observed.clear();
  }

  /** Observes a table that was requested and read at these times of this replica's clock. */
  observe({ counters, reaping }: LeaseTable, sentMs: number, readMs: number): void {
    if (readMs - sentMs > SLOW_READ_MS || sentMs - this.#readMs > READ_GAP_MS) this.restartWindow();
    this.#lost.observe(
      [...this.#counters.keys(), ...this.#reaping.keys()],
      (id) => counters.has(id) || reaping.has(id),
    );
    this.#counters = counters;
    this.#reaping = reaping;
    this.#readMs = readMs;
    this.#deadChannels = new Set([...reaping.keys(), ...this.#lost.unheard()].map(this.#parts.channelOf));
    this.#joinedDeadChannels = [...this.#deadChannels].join('\n');
    for (const id of this.#observed.keys()) if (!counters.has(id)) this.#observed.delete(id);
    for (const [id, counter] of counters) {
      if (this.#observed.get(id)?.counter !== counter) this.#observed.set(id, { counter, sinceMs: readMs });
    }
  }

  /**
   * Returns the other replicas whose counter stood still for long enough, with that counter. Measures from reading to
   * reading: the time since the last reading proves nothing, because this process may have been paused together with
   * all others.
   */
  dead(): { id: string; counter: string }[] {
    const ownId = this.#parts.ownId();
    return [...this.#observed]
      .filter(([id, { sinceMs }]) => id !== ownId && this.#readMs - sinceMs >= DEAD_AFTER_MS)
      .map(([id, { counter }]) => ({ id, counter }));
  }

  /** Returns the replicas whose reaper is not alive, and those that this replica reaps itself, with the reaper. */
  orphans(): { id: string; reaper: string }[] {
    const ownId = this.#parts.ownId();
    return [...this.#reaping]
      .filter(([, reaper]) => reaper === ownId || !this.#counters.has(reaper))
      .map(([id, reaper]) => ({ id, reaper }));
  }

  /**
   * Returns whether this replica is the reaper of `id` in the latest table, so that the routes of `id` count as gone.
   */
  isReaping(id: string): boolean {
    return this.#reaping.get(id) === this.#parts.ownId();
  }

  /** Returns the ids that had a lease or a reaper, and then neither for a while; each id once. */
  takeLost(): string[] {
    return this.#lost.take();
  }
}
