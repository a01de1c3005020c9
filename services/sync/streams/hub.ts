import type { Presence } from '../../../shared/contract/modules/presence.ts';
import { readWhenScraped } from '../../../shared/service-kit/telemetry/metrics.ts';
import type { Caller } from '../identity/caller.ts';
import { type Broadcast, makePresenceBroadcast } from '../presence/broadcast.ts';
import { makeReconciler, type Reconciler } from '../presence/reconciler.ts';
import { countTransitions, type Reconcile } from '../presence/transitions.ts';
import type { AccountSets } from '../replicas/account-sets.ts';
import type { Replica } from '../replicas/replica.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import { CatchUp, type PendingEvent } from './delivery/catch-up.ts';
import { Closing } from './upkeep/closing.ts';
import { Delivery } from './delivery/delivery.ts';
import { Heartbeat } from './upkeep/heartbeat.ts';
import { LocalStreams } from './local-streams.ts';
import { Opening } from './opening/opening.ts';
import { Repair } from './upkeep/repair.ts';
import { makeRowKeeper } from './opening/row-keeper.ts';
import type { Attached, StreamStore } from './store.ts';
import type { Stream } from './stream/stream.ts';
import { Sweeper } from './upkeep/sweeper.ts';

/** The functions of other modules that the hub calls. */
interface HubModules {
  readPresence: (account: string) => Promise<Presence>;
  /** Reads what is pending for a stream beside the log, page by page. */
  pending: (stream: Stream, position: string) => AsyncIterable<PendingEvent[]>;
  /** Recreates a missing device row; resolves to false when there is none to recreate. */
  restoreRow: (caller: Caller) => Promise<boolean>;
  /** Whether the device was signed out, as far as this replica has heard. */
  isRevoked: (account: string, deviceId: string) => boolean;
  /** Makes sure the account is in the index of due things. */
  scheduleDue: (account: string, inMs: number) => Promise<void>;
}

interface HubParts {
  store: StreamStore;
  reconcileAccount: Reconcile;
  accounts: AccountSets;
  replica: Replica;
  modules: HubModules;
  metrics: Metrics;
  timing: { sweepMs: number; rotateMs: number; graceMs: number; heartbeatMs: number };
  maxStreams: number;
  isUp: () => boolean;
  onFailure: (task: string, error: unknown) => void;
}

/** The streams of this replica, wired together from their parts. */
export class Hub {
  readonly streams = new LocalStreams();
  readonly sweeper: Sweeper;
  readonly opening: Opening;
  readonly closing: Closing;
  readonly delivery: Delivery;
  readonly #metrics: Metrics;
  readonly #accounts: AccountSets;
  readonly #heartbeat: Heartbeat;
  readonly #reconciler: Reconciler;
  readonly #repair: Repair;

  constructor(parts: HubParts) {
    const { store, accounts, replica, modules, metrics, timing, isUp, onFailure } = parts;
    const { streams } = this;
    this.#metrics = metrics;
    readWhenScraped(metrics.streams, () => streams.size);
    readWhenScraped(metrics.stream_buffer_bytes, () => streams.bufferedBytes);
    metrics.streams_limit.set(parts.maxStreams);
    this.#accounts = accounts;
    this.#heartbeat = new Heartbeat({ streams: streams.all, heartbeatMs: timing.heartbeatMs, isUp });
    this.sweeper = this.#makeSweeper(parts);
    const { sweeper } = this;
    this.#reconciler = makeReconciler({
      reconcileAccount: parts.reconcileAccount,
      accounts,
      streams,
      replica,
      sweeper: () => sweeper,
      onFailure,
    });
    const { graceMs } = timing;
    this.closing = new Closing({ streams, store, sweeper, reconciler: this.#reconciler, metrics, graceMs });
    const sendPresence = this.#makeBroadcast(parts);
    const catchUp = this.#makeCatchUp(parts, sendPresence);
    const onTransitions = countTransitions(metrics);
    const attaching = {
      streams,
      store,
      accounts,
      replica,
      catchUp,
      sweeper,
      rows: makeRowKeeper({ restoreRow: modules.restoreRow, sweeper, onFailure }),
      onAttached: (stream: Stream, { transitions, orphanInMs }: Attached) => {
        onTransitions(transitions);
        if (orphanInMs > 0) sweeper.attachLater(stream, orphanInMs);
      },
    };
    this.opening = new Opening({
      ...attaching,
      isRevoked: modules.isRevoked,
      closing: this.closing,
      onDrained: (stream) => sendPresence(stream.account),
      metrics,
      timing,
      maxStreams: parts.maxStreams,
      onFailure,
    });
    const onAbsent = (account: string) => this.#reconciler.orphaned(account);
    this.delivery = new Delivery({
      ...{ streams, catchUp, onPresence: sendPresence, onAbsent, metrics },
      storeNowMs: replica.storeNowMs,
    });
    const { scheduleDue } = modules;
    this.#repair = new Repair({ ...attaching, delivery: this.delivery, opening: this.opening, scheduleDue });
  }

  /** Makes the sweeper, which begins with `start`, when all that it calls exists. */
  #makeSweeper({ timing, replica, isUp, onFailure }: HubParts): Sweeper {
    return new Sweeper({
      streams: this.streams,
      sweepMs: timing.sweepMs,
      attach: (stream, cause) => this.#repair.attach(stream, cause),
      onAttachFailed: (stream) => stream.attachFailed(),
      detach: (stream) => this.closing.detach(stream),
      reconcile: (account) => this.#reconciler.afterGrace(account),
      liveReplicas: () => replica.live,
      isUp,
      onFailure,
    });
  }

  #makeBroadcast({ modules, onFailure }: HubParts): Broadcast {
    const { streams, sweeper } = this;
    return makePresenceBroadcast({
      streams,
      readPresence: modules.readPresence,
      onFailure: (account, error) => {
        onFailure('read presence', error);
        for (const stream of streams.find(account)?.streams ?? []) sweeper.attachSoon(stream);
      },
    });
  }

  #makeCatchUp({ store, modules, metrics, onFailure }: HubParts, sendPresence: (account: string) => void): CatchUp {
    const { streams, sweeper } = this;
    return new CatchUp({
      store,
      streams,
      metrics,
      pending: modules.pending,
      onLost: (stream) => this.opening.restart(stream),
      onLive: (stream) => (stream.needsReady ? sweeper.attachSoon(stream) : sendPresence(stream.account)),
      onFailure: (stream, error) => {
        onFailure('catch-up', error);
        sweeper.attachSoon(stream);
      },
    });
  }

  start(): void {
    this.sweeper.start();
    this.#heartbeat.start();
  }

  stop(): void {
    this.sweeper.stop();
    this.#heartbeat.stop();
  }

  /** Attaches every stream again, because announcements may have been missed. */
  attachAll(cause: string): void {
    this.#metrics.attach_rounds_total.inc({ cause });
    this.#accounts.recheck();
    this.sweeper.attachAll(cause);
    this.#reconciler.recentlyLeft();
  }
}
