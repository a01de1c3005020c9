import type { RevokedReason } from '../../../shared/contract/sessions.ts';
import type { Presence } from '../../../shared/contract/presence.ts';
import type { Caller } from '../identity/caller.ts';
import { makePresenceBroadcast } from '../presence/broadcast.ts';
import { makeReconciler, type Reconciler } from '../presence/reconciler.ts';
import { countTransitions, type Reconcile, type Transitions } from '../presence/transitions.ts';
import type { BusEvent, BusListener } from '../redis/bus.ts';
import type { LeaseStore } from '../replicas/lease-store.ts';
import type { Replica } from '../replicas/replica.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import { CatchUp, type PendingEvent } from './catch-up.ts';
import { Closing } from './closing.ts';
import { Delivery } from './delivery.ts';
import { Heartbeat } from './heartbeat.ts';
import { LocalStreams } from './local-streams.ts';
import { Opening, type OpenRequest } from './opening.ts';
import { Repair } from './repair.ts';
import { makeRowKeeper } from './row-keeper.ts';
import type { Attached, StreamStore } from './store.ts';
import type { Stream } from './stream.ts';
import { Sweeper } from './sweeper.ts';

/** What the hub asks of other modules. */
export interface HubModules {
  readPresence: (account: string) => Promise<Presence>;
  /** What is pending for a stream beside the log, page by page. */
  pending: (stream: Stream, position: string) => AsyncIterable<PendingEvent[]>;
  /** Recreates a missing device row; false when there is none to be had. */
  restoreRow: (caller: Caller) => Promise<boolean>;
  /** Whether the device was signed out, as far as this replica has heard. */
  isRevoked: (account: string, deviceId: string) => boolean;
  /** Makes sure the account is in the index of due things. */
  scheduleDue: (account: string, inMs: number) => Promise<void>;
}

interface HubParts {
  store: StreamStore;
  reconcileAccount: Reconcile;
  leases: LeaseStore;
  replica: Replica;
  modules: HubModules;
  metrics: Metrics;
  timing: { sweepMs: number; rotateMs: number; graceMs: number; heartbeatMs: number };
  maxStreams: number;
  isUp: () => boolean;
  onFailure: (task: string, error: unknown) => void;
}

/** The streams of this replica: puts their parts together, and hands on what the bus brings. */
export class Hub implements Omit<BusListener, 'revoked' | 'login' | 'relay'> {
  readonly streams = new LocalStreams();
  readonly countTransitions: (counts: Transitions) => void;
  readonly sweeper: Sweeper;
  readonly #metrics: Metrics;
  readonly #heartbeat: Heartbeat;
  readonly #reconciler: Reconciler;
  readonly #closing: Closing;
  readonly #opening: Opening;
  readonly #delivery: Delivery;

  constructor(parts: HubParts) {
    const { store, leases, replica, modules, metrics, timing, isUp, onFailure } = parts;
    const { streams } = this;
    this.#metrics = metrics;
    this.countTransitions = countTransitions(metrics);
    this.#heartbeat = new Heartbeat({ streams: streams.all, heartbeatMs: timing.heartbeatMs, isUp });
    const sweeper = new Sweeper({
      streams: streams.all,
      sweepMs: timing.sweepMs,
      attach: (stream, cause) => repair.attach(stream, cause),
      onAttachFailed: (stream) => stream.attachFailed(),
      detach: (stream) => this.#closing.detach(stream),
      reconcile: (account) => this.#reconciler.afterGrace(account),
      liveReplicas: () => replica.live,
      isUp,
      onFailure,
    });
    this.sweeper = sweeper;
    this.#reconciler = makeReconciler({
      reconcileAccount: parts.reconcileAccount,
      leases,
      streams,
      replica,
      sweeper: () => sweeper,
      onTransitions: this.countTransitions,
      onFailure,
    });
    const sendPresence = makePresenceBroadcast({
      streams,
      readPresence: modules.readPresence,
      onFailure: (account, error) => {
        onFailure('read presence', error);
        for (const stream of streams.find(account)?.streams ?? []) sweeper.attachSoon(stream);
      },
    });
    const catchUp = new CatchUp({
      store,
      streams,
      metrics,
      pending: modules.pending,
      onLost: (stream) => this.#opening.restart(stream),
      onLive: (stream) => (stream.needsReady ? sweeper.attachSoon(stream) : sendPresence(stream.account)),
      onFailure: (stream, error) => {
        onFailure('catch-up', error);
        sweeper.attachSoon(stream);
      },
    });
    const restoreRow = makeRowKeeper({
      restoreRow: modules.restoreRow,
      attachLater: (stream, inMs) => sweeper.attachLater(stream, inMs),
      onFailure,
    });
    const onAttached = (stream: Stream, { transitions, orphanInMs }: Attached) => {
      this.countTransitions(transitions);
      if (orphanInMs > 0) sweeper.attachLater(stream, orphanInMs);
    };
    const attaching = { streams, store, leases, replica, restoreRow, catchUp, sweeper, onAttached };
    this.#closing = new Closing({
      streams,
      store,
      sweeper,
      reconciler: this.#reconciler,
      metrics,
      graceMs: timing.graceMs,
    });
    this.#opening = new Opening({
      ...attaching,
      isRevoked: modules.isRevoked,
      closing: this.#closing,
      onDrained: (stream) => sendPresence(stream.account),
      metrics,
      timing,
      maxStreams: parts.maxStreams,
      onFailure,
    });
    this.#delivery = new Delivery({
      streams,
      catchUp,
      onPresence: sendPresence,
      onAbsent: (account) => this.#reconciler.stray(account),
      metrics,
    });
    const repair = new Repair({
      ...attaching,
      delivery: this.#delivery,
      opening: this.#opening,
      scheduleDue: modules.scheduleDue,
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

  /** Serves one stream: see `Opening.open`. */
  open(request: OpenRequest): Promise<void> {
    return this.#opening.open(request);
  }

  event(event: BusEvent): void {
    this.#delivery.event(event);
  }

  unlogged(account: string, name: string, to: string, data: string): void {
    this.#delivery.unlogged(account, name, to, data);
  }

  presence(account: string, version: number): void {
    this.#delivery.presence(account, version);
  }

  superseded(_account: string, streamId: string): void {
    this.#delivery.superseded(streamId);
  }

  /** A device or a session was signed out: see `Delivery.endRevoked`. */
  endRevoked(account: string, deviceId: string | null, reason: RevokedReason, sessionId: string | null): void {
    this.#delivery.endRevoked(account, deviceId, reason, sessionId);
  }

  /** The store is away: streams stay, and say so. */
  degrade(): void {
    this.#delivery.degrade();
  }

  /** Attaches every stream again: announcements may have been missed. */
  attachAll(cause: string): void {
    this.#metrics.attach_rounds_total.inc({ cause });
    this.sweeper.attachAll(cause);
    this.#reconciler.recentlyLeft();
  }

  /** Ends all streams over `spreadMs`, and refuses new ones. Resolves when the store knows. */
  drain(spreadMs: number): Promise<void> {
    return this.#closing.drain(spreadMs);
  }
}
