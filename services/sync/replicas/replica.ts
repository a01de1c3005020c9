import { randomBytes } from 'node:crypto';
import type { Bus } from '../redis/bus/bus.ts';
import type { Keys } from '../redis/keys.ts';
import { FailureDetector } from './failure-detection/failure-detector.ts';
import { BEAT_MS, type LeaseStore } from './lease-store.ts';
import { StoreClock } from './failure-detection/store-clock.ts';
import { SubscriberCheck } from './failure-detection/subscriber-check.ts';

/** A start that failed is tried again after this. */
const START_AGAIN_MS = 500;

/** More ids than a replica takes while a row of a stream is valid. */
const FORMER_IDS = 16;

type NewIdCause = 'lease lost' | 'unreachable channel';

interface ReplicaParts {
  leases: LeaseStore;
  bus: Bus;
  keys: Keys;
  /** This replica has a new id and channel, and every stream must be attached again. */
  onNewId: (oldId: string, cause: NewIdCause) => void;
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

/**
 * This replica among the others. Its lease is a counter in the store, raised every 2 s under an id that is random and
 * never used again. An id always comes with its channel: it listens there first, so that nobody writes to a channel that
 * nobody hears, and takes the lease second.
 *
 *    starting --> alive <--> new id
 *        |          |
 *        +----------+--> stopped
 *
 *    starting -> alive    it listens, has the lease and has beaten once. A step that failed is tried again, with another id
 *    alive -> new id      lease lost: a renewal found none. The others took it for dead, or the store lost it
 *                         channel unreachable: three nonces in a row were not taken, while the store is up
 *    new id -> alive      also without a lease, when that could not be taken: the next renewal finds none. When it cannot
 *                         listen on the new channel it keeps the old id, and the next beat tries again
 *    starting -> stopped  nobody wants it any more
 *    alive -> stopped     it leaves its id to the reapers of the others
 *
 * An outage of the store changes nothing here: renewals fail, and what was observed of the others proves nothing.
 */
export class Replica {
  /** Which replicas are alive. */
  readonly detector: FailureDetector;
  readonly #parts: ReplicaParts;
  readonly #check: SubscriberCheck;
  readonly #clock = new StoreClock();
  #id = newId();
  /** The last few ids before this one. */
  #formerIds: string[] = [];
  #timer: NodeJS.Timeout | null = null;
  #beating: Promise<void> | null = null;
  #isLeavingChannel = false;

  constructor(parts: ReplicaParts) {
    const { leases, bus, keys, isUp, onSilentSubscriber } = parts;
    this.#parts = parts;
    this.detector = new FailureDetector({ ownId: () => this.#id, channelOf: keys.bus, isHeard: leases.isHeard });
    this.#check = new SubscriberCheck({
      publishNonce: (number) => leases.nonce(this.#id, number),
      silentForMs: () => bus.silentForMs,
      isUp,
      onSilentSubscriber,
    });
  }

  get id(): string {
    return this.#id;
  }

  /** Ids of the other replicas that are alive as far as we know. */
  readonly others = (): string[] => this.detector.others();

  get channel(): string {
    return this.#parts.keys.bus(this.#id);
  }

  /** How many replicas are alive as far as we know, this one included. */
  get live(): number {
    return this.detector.live;
  }

  /** Channels of replicas whose routes count as gone, joined by line ends. */
  readonly deadChannels = (): string => this.detector.deadChannels;

  readonly isDeadChannel = (channel: string): boolean => this.detector.isDeadChannel(channel);

  /** Former channels of this replica, under which its streams may still be routed, joined by line ends. */
  readonly formerChannels = (): string => this.#formerIds.map(this.#parts.keys.bus).join('\n');

  /** How much older than usual the rows of open streams may look. */
  readonly lateMs = (): number => this.#clock.lateMs();

  /** How far the clock of this machine is ahead of the store's; null before the first beat. */
  get clockSkewMs(): number | null {
    return this.#clock.skewMs;
  }

  /** Unix ms by the store's clock, which all replicas compare by. */
  readonly storeNowMs = (): number => this.#clock.nowMs();

  /** Each try takes an id of its own: one that failed may have left a lease, which others reap meanwhile. */
  async start(): Promise<void> {
    this.#id = newId();
    await this.#parts.bus.listen(this.channel);
    await this.#parts.leases.start(this.#id);
    await this.beat();
    this.#timer = setInterval(() => {
      this.#check.run();
      this.#leaveUnreachableChannel();
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

  /** Stops beating and leaves the streams of this replica to the reapers of the others. */
  async stop(): Promise<void> {
    if (this.#timer === null) return;
    clearInterval(this.#timer);
    this.#timer = null;
    await this.#beating;
    const counter = this.detector.counterOf(this.#id);
    if (counter) await this.#parts.leases.claim(this.#id, counter, 'exited').catch(() => false);
  }

  /** Renews the lease and reads those of the others. Asked for while it runs, it is that one. Never rejects. */
  beat(): Promise<void> {
    this.#beating ??= this.#beat().finally(() => {
      this.#beating = null;
    });
    return this.#beating;
  }

  /** Commands have a new connection: what the last beat found may be over. Not before the start, nor after the end. */
  beatAgain(): void {
    if (this.#timer !== null) void this.beat();
  }

  async #beat(): Promise<void> {
    const { leases, onBeat, onClockSet, onRevocations } = this.#parts;
    const sentMs = performance.now();
    try {
      const table = await leases.renew(this.#id);
      const readMs = performance.now();
      this.detector.observe(table, sentMs, readMs);
      if (this.#clock.observe(table.atMs, sentMs, readMs)) onClockSet();
      onRevocations(table.revocations, table.atMs);
      if (!table.renewed) await this.#takeNewId('lease lost');
      onBeat(true);
    } catch (error) {
      this.detector.restartWindow();
      onBeat(false, error);
    }
  }

  /** In a cluster the channel may lie where no primary is left, while all others are well: that of a new id lies elsewhere. */
  #leaveUnreachableChannel(): void {
    if (!this.#check.isChannelUnreachable || this.#isLeavingChannel) return;
    this.#isLeavingChannel = true;
    // Not while a beat may be taking another id.
    Promise.resolve(this.#beating)
      .then(() => this.#takeNewId('unreachable channel'))
      // The next nonce that is not taken tries again; where only the lease could not be taken, the next renewal says so.
      .catch(() => undefined)
      .finally(() => {
        this.#isLeavingChannel = false;
      });
  }

  /** Rejects when it cannot listen there, and when it listens but could not take the lease. */
  async #takeNewId(cause: NewIdCause): Promise<void> {
    const { leases, bus, keys, onNewId } = this.#parts;
    const [oldId, id] = [this.#id, newId()];
    await bus.listen(keys.bus(id));
    this.#id = id;
    this.#check.channelChanged();
    try {
      await leases.start(id);
    } finally {
      this.#formerIds = [...this.#formerIds, oldId].slice(-FORMER_IDS);
      onNewId(oldId, cause);
    }
  }
}

const newId = (): string => randomBytes(9).toString('base64url');
