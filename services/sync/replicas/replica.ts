import { randomBytes } from 'node:crypto';
import type { Bus } from '../redis/bus/bus.ts';
import type { Keys } from '../redis/keys.ts';
import { LostReplicas } from './lost-replicas.ts';
import type { LeaseStore, LeaseTable } from './lease-store.ts';

const BEAT_MS = 2_000;

/** A start that failed is tried again so long after. */
const START_AGAIN_MS = 500;

/** Counter unchanged for three beats; a little less, because a timer may fire a moment early. */
const DEAD_AFTER_MS = 3 * BEAT_MS - 100;

/** A read slower than this, or a gap between reads longer than that, proves nothing about the others. */
const SLOW_READ_MS = 1_000;
const READ_GAP_MS = 3_000;

/** More than a replica takes in the time for which a row is good. */
const FORMER_IDS = 16;

/** After an outage every open stream has been attached again in this time: two sweeps. */
const RENEWED_WITHIN_MS = 120_000;

/** The store's clock and ours may drift apart by this much between two beats. */
const CLOCK_STEP_MS = 30_000;

/** Silence after so many nonces in a row, the last of which the store took, 6 to 8 s: the subscriber is deaf. */
const SILENT_AFTER_NONCES = 3;

/** So many nonces in a row that the store did not take: nobody can be heard on this channel (Redis Cluster). */
const UNREACHABLE_AFTER_NONCES = 3;

interface ReplicaParts {
  leases: LeaseStore;
  bus: Bus;
  keys: Keys;
  /** This replica has a new id and channel, and every stream must be attached anew. */
  onNewId: (oldId: string, cause: 'lease lost' | 'mute channel') => void;
  /** The version of the revocations and the store's time, with every renewal. */
  onRevocations: (version: string, nowMs: number) => void;
  /** The lease was renewed, or could not be, or not taken at the start. */
  onBeat: (ok: boolean, error?: unknown) => void;
  onSilentSubscriber: () => void;
  /** The store's clock was set, or another server has its place: what it takes for long ago may be of just now. */
  onClockSet: () => void;
  /** Whether any part of the store answers. */
  isUp: () => boolean;
}

/** What scripts of other rooms cannot read in the lease table. */
export type Liveness = Pick<Replica, 'deadChannels' | 'lateMs'>;

interface Observation {
  counter: string;
  /** When this counter was first read. */
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
  readonly #departed: LostReplicas;
  #dead: ReadonlySet<string> = new Set();
  #deadChannels = '';
  #timer: NodeJS.Timeout | null = null;
  #lastReadMs = Number.NEGATIVE_INFINITY;
  /** How far the store's clock is ahead of our monotonic one. */
  #aheadMs = Number.NaN;
  #late = { ms: 0, sinceMs: 0 };
  /** Its last few ids before this one. */
  #former: string[] = [];
  #beating: Promise<void> | null = null;
  #nonces = 0;
  /** The latest nonce was taken by the store: hearing nothing then is our subscriber's fault. */
  #nonceTaken = false;
  #nonceSentMs = 0;
  #unheard = 0;
  #untaken = 0;
  #moving = false;

  constructor(parts: ReplicaParts) {
    this.#parts = parts;
    this.#departed = new LostReplicas((id) => parts.leases.isHeard(id));
  }

  get channel(): string {
    return this.#parts.keys.bus(this.id);
  }

  /** Channels of all replicas that hold a lease as far as we know, our own included. */
  channels(): string[] {
    return [...new Set([this.id, ...(this.#table?.counters.keys() ?? [])])].map(this.#parts.keys.bus);
  }

  /** Channels of replicas that are being reaped or have departed, joined by line ends; their routes count as gone. */
  deadChannels = (): string => this.#deadChannels;

  /**
   * How much older than usual the rows of open streams may be: nobody could renew them while the store was away, and a
   * clock that was set makes them look older.
   */
  lateMs = (): number => this.#lateAt(performance.now());

  /** Under which streams of this replica may still be routed, joined by line ends. */
  formerChannels = (): string => this.#former.map(this.#parts.keys.bus).join('\n');

  isDeadChannel = (channel: string): boolean => this.#dead.has(channel);

  /**
   * Subscribes first, then takes the lease: a replica that others see also hears. A try that failed may have left a
   * lease that is reaped meanwhile, so that each takes an id of its own.
   */
  async start(): Promise<void> {
    this.id = newId();
    await this.#parts.bus.listen(this.channel);
    await this.#parts.leases.start(this.id);
    await this.beat();
    this.#timer = setInterval(() => {
      this.#proveHearing();
      this.#leaveMuteChannel();
      void this.beat();
    }, BEAT_MS);
  }

  /** Tries until it has started, or is no longer wanted. Never rejects. */
  async startWhenItCan(isUnwanted: () => boolean): Promise<void> {
    while (!isUnwanted()) {
      try {
        return await this.start();
      } catch (error) {
        this.#parts.onBeat(false, error);
        await new Promise((resolve) => setTimeout(resolve, START_AGAIN_MS));
      }
    }
  }

  /** One beat at a time; a beat asked for during one that runs is that one. Never rejects. */
  beat(): Promise<void> {
    this.#beating ??= this.#beat().finally(() => {
      this.#beating = null;
    });
    return this.#beating;
  }

  /**
   * Commands have a new connection: what the last beat found may be over. Not before the start, which takes an id of its
   * own, and not after the end.
   */
  beatAgain(): void {
    if (this.#timer !== null) void this.beat();
  }

  /**
   * Replicas whose counter stood still for long enough, with the counter that was seen. Counted from read to read: what
   * has passed since the last one, in which this process may have been paused together with all others, says nothing.
   */
  dead(): { id: string; counter: string }[] {
    return [...this.#observed]
      .filter(([id, seen]) => id !== this.id && this.#lastReadMs - seen.sinceMs >= DEAD_AFTER_MS)
      .map(([id, { counter }]) => ({ id, counter }));
  }

  /** Replicas left by a reaper that is not alive, with that reaper; and those that are ours to go on with. */
  orphans(): { id: string; reaper: string }[] {
    const { reaping, counters } = this.#table ?? { reaping: new Map<string, string>(), counters: new Map() };
    return [...reaping].filter(([, by]) => by === this.id || !counters.has(by)).map(([id, reaper]) => ({ id, reaper }));
  }

  /** Whether this replica is the reaper of that one, as of the latest table; its routes count as gone then. */
  isReaping(id: string): boolean {
    return this.#table?.reaping.get(id) === this.id;
  }

  /** Ids that had a lease or a reaper, and then neither, a while ago; each is named once. */
  takeVanished(): string[] {
    return this.#departed.take();
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
    const { leases, onBeat, onRevocations } = this.#parts;
    const sentMs = performance.now();
    try {
      const table = await leases.renew(this.id);
      this.#observe(table, sentMs);
      onRevocations(table.revocations, table.atMs);
      if (!table.renewed) await this.#takeNewId();
      onBeat(true);
    } catch (error) {
      this.#observed.clear();
      onBeat(false, error);
    }
  }

  /**
   * Publishes to the own channel, and looks whether the ones before were heard. Apart from the lease: in a cluster the
   * two lie on different primaries. While the store does not take nonces, silence proves nothing yet; it counts once one
   * is taken, because a hole that swallowed the commands may have swallowed the subscriber too.
   */
  #proveHearing(): void {
    const { leases, bus, onSilentSubscriber } = this.#parts;
    // Counted in nonces, not in time: after a pause of this process nothing has been heard for long either.
    const isSilent = bus.silentForMs > performance.now() - this.#nonceSentMs;
    if (!isSilent) this.#unheard = 0;
    else if (this.#nonceTaken || this.#unheard < SILENT_AFTER_NONCES - 1) this.#unheard += 1;
    if (this.#unheard >= SILENT_AFTER_NONCES) {
      this.#unheard = 0;
      onSilentSubscriber();
    }
    this.#nonceTaken = false;
    this.#nonceSentMs = performance.now();
    leases.nonce(this.id, (this.#nonces += 1)).then(
      () => {
        this.#nonceTaken = true;
        this.#untaken = 0;
      },
      // The number is missing then, and the next one heard tells. With nobody there it says nothing about the channel.
      () => {
        this.#untaken = this.#parts.isUp() ? this.#untaken + 1 : 0;
      },
    );
  }

  /**
   * In a cluster the channel may lie where no primary is left while all others are well: a new id has its channel
   * elsewhere, with some luck, and else the next one. Without a lease for it, when that is out of reach as well: the
   * next renewal will say so. The old id is left to the reapers.
   */
  #leaveMuteChannel(): void {
    if (this.#untaken < UNREACHABLE_AFTER_NONCES || this.#moving || !this.#parts.isUp()) return;
    this.#moving = true;
    const { leases, bus, keys } = this.#parts;
    const move = async () => {
      // Not while a beat may be taking another id.
      await this.#beating;
      const [old, id] = [this.id, newId()];
      await bus.listen(keys.bus(id));
      this.id = id;
      this.#untaken = 0;
      await leases.start(id).catch(() => undefined);
      this.#leave(old, 'mute channel');
    };
    move()
      // Nobody can be heard there either; the next nonce that is not taken tries again.
      .catch(() => undefined)
      .finally(() => {
        this.#moving = false;
      });
  }

  /** `sinceMs`: when it began. What was not renewed since the time before that is late by both. */
  #noteLate(ms: number, sinceMs: number): void {
    if (!Number.isFinite(ms)) return;
    this.#late = { ms: Math.round(ms + this.#lateAt(sinceMs)), sinceMs: performance.now() };
  }

  #lateAt(timeMs: number): number {
    return timeMs - this.#late.sinceMs < RENEWED_WITHIN_MS ? this.#late.ms : 0;
  }

  #observe(table: LeaseTable, sentMs: number): void {
    const now = performance.now();
    const gapMs = sentMs - this.#lastReadMs;
    if (now - sentMs > SLOW_READ_MS || gapMs > READ_GAP_MS) this.#observed.clear();
    if (gapMs > READ_GAP_MS) this.#noteLate(gapMs, sentMs - gapMs);
    this.#lastReadMs = now;
    const stepMs = Math.abs(table.atMs - now - this.#aheadMs);
    this.#aheadMs = table.atMs - now;
    if (stepMs > CLOCK_STEP_MS) {
      this.#noteLate(stepMs, now);
      this.#parts.onClockSet();
    }
    const before = [...(this.#table?.counters.keys() ?? []), ...(this.#table?.reaping.keys() ?? [])];
    this.#departed.note(before, (id) => table.counters.has(id) || table.reaping.has(id));
    this.#table = table;
    this.#dead = new Set([...table.reaping.keys(), ...this.#departed.silent()].map(this.#parts.keys.bus));
    this.#deadChannels = [...this.#dead].join('\n');
    this.live = Math.max(1, table.counters.size);
    for (const id of this.#observed.keys()) if (!table.counters.has(id)) this.#observed.delete(id);
    for (const [id, counter] of table.counters) {
      if (this.#observed.get(id)?.counter !== counter) this.#observed.set(id, { counter, sinceMs: now });
    }
  }

  /**
   * Listens first, so that nobody is routed to a channel that nobody hears. What it listens on is its id from then on, with
   * a lease or without: the next renewal finds none, and comes here again.
   */
  async #takeNewId(): Promise<void> {
    const { leases, bus, keys } = this.#parts;
    const [old, id] = [this.id, newId()];
    await bus.listen(keys.bus(id));
    this.id = id;
    try {
      await leases.start(id);
    } finally {
      this.#leave(old, 'lease lost');
    }
  }

  #leave(old: string, cause: 'lease lost' | 'mute channel'): void {
    this.#former = [...this.#former, old].slice(-FORMER_IDS);
    this.#parts.onNewId(old, cause);
  }
}

const newId = (): string => randomBytes(9).toString('base64url');
