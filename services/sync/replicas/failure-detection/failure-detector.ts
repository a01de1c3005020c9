import { BEAT_MS, type LeaseTable, READ_GAP_MS } from '../lease-store.ts';
import { LostReplicas } from './lost-replicas.ts';

/** A counter unchanged for three beats; a little less, because a timer may fire a moment early. */
const DEAD_AFTER_MS = 3 * BEAT_MS - 100;

/** A reading that took longer proves nothing about the others. */
const SLOW_READ_MS = 1_000;

interface FailureDetectorParts {
  ownId: () => string;
  channelOf: (id: string) => string;
  /** Whether anybody listens on that replica's channel. */
  isHeard: (id: string) => Promise<boolean>;
}

interface Observation {
  counter: string;
  /** When this counter was first read. */
  sinceMs: number;
}

/**
 * Which replicas are alive, by the lease table that is read with every beat. One is dead when its counter stood still for
 * 6 s of OUR monotonic clock with every reading in between successful, so that neither a failover of the store nor a
 * paused host makes a living one dead. The routes of replicas that are being reaped, or are lost, count as gone.
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

  /** How many replicas are alive as far as we know, this one included. */
  get live(): number {
    return Math.max(1, this.#counters.size);
  }

  /** Channels of replicas whose routes count as gone, joined by line ends. */
  get deadChannels(): string {
    return this.#joinedDeadChannels;
  }

  /** Living replicas but this one. */
  others(): string[] {
    const ownId = this.#parts.ownId();
    return [...this.#counters.keys()].filter((id) => id !== ownId);
  }

  isDeadChannel(channel: string): boolean {
    return this.#deadChannels.has(channel);
  }

  /** Channels of all replicas that hold a lease as far as we know, and our own. */
  channels(): string[] {
    return [...new Set([this.#parts.ownId(), ...this.#counters.keys()])].map(this.#parts.channelOf);
  }

  /** The counter of a replica in the latest table. */
  counterOf(id: string): string | undefined {
    return this.#counters.get(id);
  }

  /** A reading failed: what was observed until now proves nothing any more. */
  restartWindow(): void {
    this.#observed.clear();
  }

  /** Takes the table that was asked for and read at these times of our clock. */
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
   * Other replicas whose counter stood still for long enough, with that counter. Measured from reading to reading: the
   * time since the last one, in which this process may have been paused together with all others, proves nothing.
   */
  dead(): { id: string; counter: string }[] {
    const ownId = this.#parts.ownId();
    return [...this.#observed]
      .filter(([id, { sinceMs }]) => id !== ownId && this.#readMs - sinceMs >= DEAD_AFTER_MS)
      .map(([id, { counter }]) => ({ id, counter }));
  }

  /** Replicas whose reaper is not alive, with that reaper; and those that are ours to go on with. */
  orphans(): { id: string; reaper: string }[] {
    const ownId = this.#parts.ownId();
    return [...this.#reaping]
      .filter(([, reaper]) => reaper === ownId || !this.#counters.has(reaper))
      .map(([id, reaper]) => ({ id, reaper }));
  }

  /** Whether this replica is the reaper of that one in the latest table; its routes count as gone then. */
  isReaping(id: string): boolean {
    return this.#reaping.get(id) === this.#parts.ownId();
  }

  /** Ids that had a lease or a reaper, and then neither for a while; each is named once. */
  takeLost(): string[] {
    return this.#lost.take();
  }
}
