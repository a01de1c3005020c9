import { randomBytes } from 'node:crypto';
import type { Bus } from '../redis/bus.ts';
import type { Keys } from '../redis/keys.ts';
import type { LeaseStore, LeaseTable } from './lease-store.ts';

const BEAT_MS = 2_000;

/** Counter unchanged for three beats; a little less, because a timer may fire a moment early. */
const DEAD_AFTER_MS = 3 * BEAT_MS - 100;

/** A read slower than this, or a gap between reads longer than that, proves nothing about the others. */
const SLOW_READ_MS = 1_000;
const READ_GAP_MS = 3_000;

/** Not even the own nonce was heard for this long: the subscriber is deaf. */
const DEAF_AFTER_MS = 6_000;

interface ReplicaParts {
  leases: LeaseStore;
  bus: Bus;
  keys: Keys;
  /** The lease is gone: this replica has a new id and channel, and every stream must be attached anew. */
  onNewId: (oldId: string) => void;
  /** A beat went through or failed. */
  onBeat: (ok: boolean, error?: unknown) => void;
  onDeaf: () => void;
}

interface Observation {
  counter: string;
  sinceMs: number;
}

/**
 * This replica among the others. Its id is random per start and never used again once its lease was lost; the lease
 * is a counter raised every 2 s. Another replica is dead when its counter stood still for 6 s of OUR monotonic clock
 * with every read in between successful, so that neither a failover nor a paused host kills the living.
 */
export class Replica {
  id = newId();
  /** Of the latest table: replicas that are alive as far as we know, us included. */
  live = 1;
  readonly #parts: ReplicaParts;
  readonly #observed = new Map<string, Observation>();
  #table: LeaseTable | null = null;
  #deadChannels = '';
  #timer: NodeJS.Timeout | null = null;
  #lastReadMs = Number.NEGATIVE_INFINITY;
  #beating: Promise<void> | null = null;
  #beats = 0;

  constructor(parts: ReplicaParts) {
    this.#parts = parts;
  }

  get channel(): string {
    return this.#parts.keys.bus(this.id);
  }

  /** Channels of replicas that are being reaped, joined by line ends; in scripts their routes count as gone. */
  deadChannels = (): string => this.#deadChannels;

  isDeadChannel(channel: string): boolean {
    return this.#deadChannels !== '' && this.#deadChannels.split('\n').includes(channel);
  }

  /** Subscribes first, then takes the lease: a replica that others see also hears. */
  async start(): Promise<void> {
    await this.#parts.bus.listen(this.channel);
    await this.#parts.leases.start(this.id);
    await this.beat();
    this.#timer = setInterval(() => void this.beat(), BEAT_MS);
  }

  /** One beat at a time; a beat asked for during one that runs is that one. Never rejects. */
  beat(): Promise<void> {
    this.#beating ??= this.#beat().finally(() => {
      this.#beating = null;
    });
    return this.#beating;
  }

  /** Replicas whose counter stood still for long enough, with the counter that was seen. */
  dead(): { id: string; counter: string }[] {
    const now = performance.now();
    return [...this.#observed]
      .filter(([id, seen]) => id !== this.id && now - seen.sinceMs >= DEAD_AFTER_MS)
      .map(([id, { counter }]) => ({ id, counter }));
  }

  /** Replicas left by a reaper that is not alive, with that reaper; and those that are ours to go on with. */
  orphans(): { id: string; reaper: string }[] {
    const { reaping, counters } = this.#table ?? { reaping: new Map<string, string>(), counters: new Map() };
    return [...reaping].filter(([, by]) => !counters.has(by)).map(([id, reaper]) => ({ id, reaper }));
  }

  /** Stops beating and hands what is left of this replica to the reapers of the others. */
  async stop(): Promise<void> {
    if (this.#timer === null) return;
    clearInterval(this.#timer);
    this.#timer = null;
    await this.#beating;
    const counter = this.#table?.counters.get(this.id);
    if (counter) await this.#parts.leases.claim(this.id, counter, 'exited').catch(() => false);
  }

  async #beat(): Promise<void> {
    const { leases, bus, onBeat, onDeaf } = this.#parts;
    const sentMs = performance.now();
    try {
      const table = await leases.renew(this.id);
      this.#observe(table, sentMs);
      if (!table.renewed) await this.#takeNewId();
      await leases.nonce(this.id, String((this.#beats += 1)));
      onBeat(true);
    } catch (error) {
      this.#observed.clear();
      onBeat(false, error);
      return;
    }
    if (bus.silentForMs > DEAF_AFTER_MS) onDeaf();
  }

  #observe(table: LeaseTable, sentMs: number): void {
    const now = performance.now();
    if (now - sentMs > SLOW_READ_MS || sentMs - this.#lastReadMs > READ_GAP_MS) this.#observed.clear();
    this.#lastReadMs = now;
    this.#table = table;
    this.#deadChannels = [...table.reaping.keys()].map(this.#parts.keys.bus).join('\n');
    this.live = Math.max(1, table.counters.size);
    for (const id of this.#observed.keys()) if (!table.counters.has(id)) this.#observed.delete(id);
    for (const [id, counter] of table.counters) {
      if (this.#observed.get(id)?.counter !== counter) this.#observed.set(id, { counter, sinceMs: now });
    }
  }

  async #takeNewId(): Promise<void> {
    const old = this.id;
    this.id = newId();
    await this.#parts.bus.listen(this.channel);
    await this.#parts.leases.start(this.id);
    this.#parts.onNewId(old);
  }
}

const newId = (): string => randomBytes(9).toString('base64url');
