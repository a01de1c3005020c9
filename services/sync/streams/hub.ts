import type { ServerResponse } from 'node:http';
import { BatonError } from '../../../shared/contract/errors.ts';
import type { EventName } from '../../../shared/contract/events.ts';
import type { RevokedReason } from '../../../shared/contract/sessions.ts';
import { presenceView } from '../presence/presence-view.ts';
import type { Caller } from '../identity/caller.ts';
import type { BusEvent, BusListener } from '../redis/bus/bus.ts';
import { isStoreAway } from '../../server/redis/faults.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import { type CatchUp, makeCatchUp } from './catch-up.ts';
import { addressed, frame, isPosition } from './frames.ts';
import { endEvenly } from './drain.ts';
import { countOpened, sendReady } from './ready.ts';
import { Heartbeat, spreadRetryMs } from './heartbeat.ts';
import type { HubModules } from './hub-modules.ts';
import type { AccountSets } from '../replicas/account-sets.ts';
import { LocalStreams } from './local-streams.ts';
import { type Reconciler, makeReconciler } from '../presence/reconciler.ts';
import { makePermits } from './permits.ts';
import { makePresenceBroadcast, type PresenceBroadcast, sendPresence } from '../presence/broadcast.ts';
import type { Replica } from '../replicas/replica.ts';
import { makeRowKeeper, type RowKeeper } from './row-keeper.ts';
import type { Attached, HubStore } from './store.ts';
import { Stream } from './stream.ts';
import { Sweeper } from './sweeper.ts';
import { countTransitions, type Reconcile, type Transitions } from '../presence/transitions.ts';

/** A superseded client must not come back by itself; should it, then late. */
const SUPERSEDED_RETRY_MS = 60_000;

interface HubParts {
  store: HubStore;
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

interface OpenRequest {
  res: ServerResponse;
  caller: Caller;
  /** Device id, or `~<name>`. */
  device: string;
  /** As the client sent it; null when it sent none. */
  lastEventId: string | null;
}

/** Streams that open at once; in a reconnect storm the others wait, and the store answers each in time. */
const OPENING_AT_ONCE = 200;

/** The streams of this replica, and the delivery of events to them. It holds sockets and positions, nothing else. */
export class Hub implements Omit<BusListener, 'revoked' | 'login' | 'relay' | 'gap'> {
  readonly streams = new LocalStreams();
  readonly countTransitions: (counts: Transitions) => void;
  readonly sweeper: Sweeper;
  readonly #parts: HubParts;
  readonly #catchUp: CatchUp;
  readonly #heartbeat: Heartbeat;
  readonly #broadcastPresence: PresenceBroadcast;
  readonly #admission = makePermits(OPENING_AT_ONCE);
  readonly #reconciler: Reconciler;
  readonly #restoreRow: RowKeeper;
  #draining = false;

  constructor(parts: HubParts) {
    this.#parts = parts;
    const { store, metrics, modules, replica, timing, isUp, onFailure } = parts;
    this.countTransitions = countTransitions(metrics);
    this.#heartbeat = new Heartbeat({ streams: this.streams.all, heartbeatMs: timing.heartbeatMs, isUp });
    const { streams } = this;
    this.#reconciler = makeReconciler({ ...parts, streams, sweeper: () => this.sweeper });
    this.#broadcastPresence = makePresenceBroadcast({
      ...{ streams, readPresence: modules.readPresence },
      onFailure: (account, error) => {
        onFailure('read presence', error);
        for (const stream of streams.find(account)?.streams ?? []) this.sweeper.attachSoon(stream);
      },
    });
    this.#catchUp = makeCatchUp({
      ...{ store, streams, metrics, pending: modules.pending },
      onLost: (stream) => this.#begin(stream, false),
      onLive: (stream) =>
        stream.needsReady ? this.sweeper.attachSoon(stream) : this.#broadcastPresence(stream.account),
      onFailure: (stream, error) => {
        onFailure('catch-up', error);
        this.sweeper.attachSoon(stream);
      },
    });
    this.#restoreRow = makeRowKeeper({
      ...{ restoreRow: modules.restoreRow, onFailure },
      attachLater: (stream, inMs) => this.sweeper.attachLater(stream, inMs),
    });
    this.sweeper = new Sweeper({
      streams: this.streams.all,
      sweepMs: timing.sweepMs,
      attach: (stream) => this.#attach(stream),
      onAttachFailed: (stream) => stream.noteFailedAttach(),
      detach: async (stream) => {
        await store.detach(stream, replica.channel);
        this.#forget(stream);
        this.#reconciler.noteEnd(stream.account);
      },
      reconcile: (account) => this.#reconciler.afterGrace(account),
      ...{ liveReplicas: () => replica.live, isUp, onFailure },
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

  /**
   * Serves one stream. Rejects only with what a client can mend (`name_taken`, `session_revoked`): whatever is our own
   * fault answers 200 and a `reconnect` event, because a native EventSource gives up on any other status.
   */
  async open({ res, caller, device, lastEventId }: OpenRequest): Promise<void> {
    const { maxStreams, modules, timing } = this.#parts;
    const { account, deviceId } = caller;
    // In the tick that places the stream: a revocation comes before this, or finds the stream.
    if (deviceId !== null && modules.isRevoked(account, deviceId)) throw new BatonError('session_revoked');
    // Gone while it was asked who it is: nothing would ever tell of its end.
    if (res.destroyed) return;
    const stream = new Stream(res, caller, device);
    if (this.#draining || this.streams.size >= maxStreams) {
      return stream.end(this.#draining ? 'draining' : 'busy', spreadRetryMs(1_000, 5_000));
    }
    const malformed = lastEventId !== null && !isPosition(lastEventId);
    stream.position = malformed ? '' : (lastEventId ?? '');
    stream.rotateAtMs = performance.now() + timing.rotateMs * (0.8 + 0.2 * Math.random());
    res.on('close', () => this.#close(stream));
    // Presence that came while the socket was full was not written, and nobody else would ask again.
    res.on('drain', () => stream.state === 'live' && this.#broadcastPresence(stream.account));
    // In the hub before the attach is sent: an event between the attach and its answer must find the stream.
    this.streams.add(stream);
    await this.#begin(stream, malformed);
  }

  event(event: BusEvent): void {
    const entry = this.streams.find(event.account);
    if (!entry) return this.#reconciler.orphaned(event.account);
    let chunk: Buffer | null = null;
    const now = Date.now();
    for (const stream of entry.streams) {
      if (stream.state !== 'live') {
        stream.missedEvent = true;
      } else if (event.prev === stream.position) {
        stream.advance(event.id);
        if (!addressed(event.to, stream.device)) continue;
        chunk ??= frame(event.name as EventName, event.data, event.id);
        this.#parts.metrics.events_delivered_total.inc({ event: event.name });
        this.#parts.metrics.delivery_latency_seconds.observe(Math.max(0, now - event.appendedAtMs) / 1000);
        if (!stream.writePosition(chunk)) this.#catchUp(stream);
      } else if (!stream.saw(event.id)) {
        this.#fallBehind(stream, 'gap');
      }
    }
  }

  /** For streams that are live and can be written to; the others learn the state from the next logged event. */
  unlogged(account: string, name: string, to: string, data: string): void {
    const chunk = frame(name as EventName, data);
    for (const stream of this.streams.find(account)?.streams ?? []) {
      if (stream.state === 'live' && stream.writable && addressed(to, stream.device)) stream.write(chunk);
    }
  }

  presence(account: string, version: number): void {
    if (!this.streams.find(account)) return this.#reconciler.orphaned(account);
    this.#broadcastPresence(account, version);
  }

  superseded(_account: string, streamId: string): void {
    this.streams.all.get(streamId)?.end('superseded', SUPERSEDED_RETRY_MS);
  }

  /** Ends the streams of a device that was signed out; without a device those of the session, of all when it is null. */
  endRevoked(account: string, deviceId: string | null, reason: RevokedReason, sessionId: string | null): void {
    for (const stream of this.streams.find(account)?.streams ?? []) {
      if (stream.caller.deviceId === deviceId) stream.endRevoked(reason, sessionId);
    }
  }

  /** The store is away: streams stay, and say so. */
  degrade(): void {
    for (const stream of this.streams.all.values()) stream.degrade();
  }

  /** Attaches every stream again: announcements may have been missed. */
  attachAll(cause: string): void {
    this.#parts.metrics.attach_rounds_total.inc({ cause });
    this.sweeper.attachAll(cause);
    this.#reconciler.recentlyLeft();
  }

  /** Ends all streams in random order, evenly over `spreadMs`, and refuses new ones. Resolves when the store knows. */
  async drain(spreadMs: number): Promise<void> {
    this.#draining = true;
    await endEvenly(this.streams.all, spreadMs, () => this.sweeper.settled);
  }

  /** Attaches an opening stream and sends its `ready`; also when a stream lost its position in the middle. */
  async #begin(stream: Stream, malformed: boolean): Promise<void> {
    const { replica, timing, metrics } = this.#parts;
    stream.state = 'opening';
    stream.attachAgain = false;
    stream.presenceVersion = 0;
    try {
      const attached = await this.#attachOpening(stream);
      if (attached === null || stream.isOver) return;
      const { opened } = attached;
      stream.start();
      if (opened === null) return this.#refused(stream, attached.outcome);
      const lostReason = malformed ? 'expired' : opened.lostReason;
      if (lostReason !== null) metrics.resets_total.inc({ reason: lostReason });
      else if (stream.readySent && stream.needsReady) metrics.repairs_total.inc({ cause: 'lost presence' });
      if (!stream.readySent) countOpened(metrics, stream, lostReason ?? 'resumed');
      this.#note(stream, attached);
      if (lostReason !== null || stream.needsReady) {
        sendReady(stream, { attached, opened, lostReason, heartbeatMs: timing.heartbeatMs, serverId: replica.id });
      }
      this.#catchUp(stream, opened.page);
      if (stream.attachAgain) this.sweeper.attachSoon(stream);
    } catch (error) {
      this.#beginFailed(stream, error);
    }
  }

  /** Null: the stream closed while it waited. The broker is asked without a permit: a slow one holds up nobody else. */
  async #attachOpening(stream: Stream): Promise<Attached | null> {
    const { store, accounts, replica } = this.#parts;
    const attach = () =>
      this.#admission(async () => {
        if (stream.isOver) return null;
        // Whatever may have been lost: should this replica die before it notices, its reaper finds the account.
        void accounts.add(replica.id, stream.account);
        return store.attach(stream, replica.channel, true, this.streams.idsOf(stream.account));
      });
    const attached = await attach();
    return attached && (await this.#restoreRow(stream, attached)) ? attach() : attached;
  }

  #note(stream: Stream, { transitions, strayInMs }: Attached): void {
    this.countTransitions(transitions);
    if (strayInMs > 0) this.sweeper.attachLater(stream, strayInMs);
  }

  #refused(stream: Stream, outcome: Attached['outcome']): void {
    if (outcome === 'gone') return stream.end('superseded', SUPERSEDED_RETRY_MS);
    if (outcome === 'busy' || !stream.readySent) return stream.end('busy', spreadRetryMs(5_000, 15_000));
    // `old`: a later attach came first, over another connection; the next one goes on from there.
    stream.state = 'behind';
    this.sweeper.attachSoon(stream);
  }

  #beginFailed(stream: Stream, error: unknown): void {
    if (stream.isOver) return;
    const isAway = isStoreAway(error);
    const isMendable = error instanceof BatonError && error.status < 500;
    if (stream.readySent || !(isAway || isMendable)) this.#parts.onFailure('greet stream', error);
    if (stream.readySent && isAway) {
      stream.state = 'behind';
      return this.sweeper.attachSoon(stream);
    }
    // Whoever took its name meanwhile: a new request is told so.
    if (stream.readySent) return stream.end('rotate', spreadRetryMs(500, 3_000));
    if (!isMendable) return stream.end('store', isAway ? spreadRetryMs(1_000, 3_000) : spreadRetryMs(5_000, 15_000));
    this.#close(stream);
    throw error;
  }

  /** The sweep's attach, also after every cause that may have lost an announcement. */
  async #attach(stream: Stream): Promise<boolean> {
    const { accounts, replica } = this.#parts;
    const speaksForAccount = this.streams.find(stream.account)?.streams.values().next().value === stream;
    if (speaksForAccount) await accounts.add(replica.id, stream.account);
    if (stream.state === 'opening') {
      stream.attachAgain = true;
      return false;
    }
    if (!stream.isOver) await this.#compare(stream, speaksForAccount);
    return true;
  }

  async #compare(stream: Stream, speaksForAccount: boolean): Promise<void> {
    const { store, replica, modules } = this.#parts;
    const { position } = stream;
    const attached = await store.attach(stream, replica.channel, false, this.streams.idsOf(stream.account));
    const source = stream.takeRecheckReason() ?? 'sweep';
    if (stream.isOver || attached.outcome === 'old') return;
    if (attached.outcome !== 'attached') return this.#refused(stream, attached.outcome);
    this.#note(stream, attached);
    stream.restore();
    // The store lost the presence that was told last: only a `ready` takes it back, and one that is behind may get its own.
    if (stream.state === 'live' && attached.presenceVersion < stream.presenceVersion) stream.needsReady = true;
    if (stream.needsReady && stream.state !== 'opening' && !stream.catchingUp) return this.#begin(stream, false);
    if (await this.#restoreRow(stream, attached)) this.sweeper.attachSoon(stream);
    if (attached.presence) sendPresence([stream], presenceView(attached.presence));
    if (speaksForAccount && attached.nextDueInMs !== null)
      await modules.scheduleDue(stream.account, attached.nextDueInMs);
    // An end that lies before where the stream stood when it asked: the store lost its tail.
    const isBehind = attached.top !== stream.position && (stream.position === position || !stream.saw(attached.top));
    if (stream.state === 'live' && isBehind) this.#fallBehind(stream, source);
    else if (stream.state === 'behind') this.#catchUp(stream);
  }

  #close(stream: Stream): void {
    if (stream.state === 'closed') return;
    stream.state = 'closed';
    this.streams.remove(stream);
    this.#parts.metrics.streams_closed_total.inc({ reason: stream.closeReason });
    if (stream.mayBeRouted) return this.sweeper.detachSoon(stream);
    // What the store refused throughout an outage is not to be told to it afterwards, by the thousand.
    this.#forget(stream);
    this.sweeper.forget(stream);
  }

  /** The store does not know the stream any more: not before, or a look that comes first finds it open, and is the last. */
  #forget(stream: Stream): void {
    this.streams.forget(stream);
    this.sweeper.reconcileLater(stream.account, this.#parts.timing.graceMs + 20);
  }

  #fallBehind(stream: Stream, source: string): void {
    this.#parts.metrics.gap_repairs_total.inc({ source });
    this.#catchUp(stream);
  }
}
