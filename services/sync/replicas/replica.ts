import { randomBytes } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import type { Bus } from '../redis/bus/bus.ts';
import type { Keys } from '../redis/keys.ts';
import { FailureDetector } from './failure-detection/failure-detector.ts';
import { BEAT_MS, type LeaseStore } from './lease-store.ts';
import { StoreClock } from './failure-detection/store-clock.ts';
import { SubscriberCheck } from './failure-detection/subscriber-check.ts';

/** How long until a failed start is tried again. */
const START_AGAIN_MS = 500;

/** Number of former ids that are kept: more than a replica takes while a row of a stream is valid. */
const FORMER_IDS = 16;

type NewIdCause = 'lease lost' | 'unreachable channel';

interface ReplicaParts {
  leases: LeaseStore;
  bus: Bus;
  keys: Keys;
  /** Called when this replica has a new id and channel, and every stream must be attached again. */
  onNewId: (oldId: string, cause: NewIdCause) => void;
  /** Called with every renewal, with the version of the revocations and the store's time. */
  onRevocations: (version: string, nowMs: number) => void;
  /** Called when the lease was renewed, could not be renewed, or could not be taken at the start. */
  onBeat: (ok: boolean, error?: unknown) => void;
  onSilentSubscriber: () => void;
  /**
   * Called when the store's clock was set, or another server took its place: a time that seems long ago may be recent.
   */
  onClockSet: () => void;
  /** Whether any part of the store answers. */
  isUp: () => boolean;
}

/**
 * This replica among the others. Its lease is a counter in the store, raised every 2 s under an id that is random and
 * never used again. An id always comes with its channel. The replica first listens there, so that nobody writes to a
 * channel that nobody hears, and then takes the lease.
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
 *    starting -> stopped  its start is no longer wanted
 *    alive -> stopped     it leaves its id to the reapers of the others
 *
 * An outage of the store changes nothing here: renewals fail, and the observations of the others prove nothing.
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

  /** Returns the ids of the other replicas that seem alive. */
  readonly others = (): string[] => this.detector.others();

  get channel(): string {
    return this.#parts.keys.bus(this.#id);
  }

  /** Number of replicas that seem alive, including this one. */
  get live(): number {
    return this.detector.live;
  }

  /** Channels of replicas whose routes count as gone, joined by line ends. */
  readonly deadChannels = (): string => this.detector.deadChannels;

  readonly isDeadChannel = (channel: string): boolean => this.detector.isDeadChannel(channel);

  /** Returns former channels of this replica, under which its streams may still be routed, joined by line ends. */
  readonly formerChannels = (): string => this.#formerIds.map(this.#parts.keys.bus).join('\n');

  /** Returns how much older than usual the rows of open streams may look. */
  readonly lateMs = (): number => this.#clock.lateMs();

  /** How far the clock of this machine is ahead of the store's; null before the first beat. */
  get clockSkewMs(): number | null {
    return this.#clock.skewMs;
  }

  /** Returns Unix ms by the store's clock, by which all replicas compare times. */
  readonly storeNowMs = (): number => this.#clock.nowMs();

  /**
   * Starts the replica. Each try takes a new id, because a failed one may have left a lease, which others reap
   * meanwhile.
   */
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

  /**
   * Tries to start until that succeeds or is no longer wanted. The first try waits for `connected` as long as a failed
   * one would wait for the next. Never rejects.
   */
  async startWhenItCan(isUnwanted: () => boolean, connected: Promise<void>): Promise<void> {
    await Promise.race([connected, wait(START_AGAIN_MS)]);
    while (!isUnwanted()) {
      try {
        return await this.start();
      } catch (error) {
        this.#parts.onBeat(false, error);
        await wait(START_AGAIN_MS);
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

  /** Renews the lease and reads those of the others. A call during a beat returns that beat. Never rejects. */
  beat(): Promise<void> {
    this.#beating ??= this.#beat().finally(() => {
      this.#beating = null;
    });
    return this.#beating;
  }

  /**
   * Beats again after commands got a new connection, because the last beat may be outdated. Does nothing before the
   * start or after the end.
   */
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

  /**
   * Takes a new id when the channel is unreachable. In a cluster its slot may have no primary while all others have
   * one; the channel of a new id is in another slot.
   */
  #leaveUnreachableChannel(): void {
    if (!this.#check.isChannelUnreachable || this.#isLeavingChannel) return;
    this.#isLeavingChannel = true;
    // The beat under way may be taking another id.
    Promise.resolve(this.#beating)
      .then(() => this.#takeNewId('unreachable channel'))
      // The next nonce that is not taken tries again. If only the lease could not be taken, the next renewal finds that
      // out.
      .catch(() => undefined)
      .finally(() => {
        this.#isLeavingChannel = false;
      });
  }

  /**
   * Takes a new id. Rejects when it cannot listen on the new channel, and when it listens but could not take the lease.
   */
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
