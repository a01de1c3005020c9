import type { ServerResponse } from 'node:http';
import { BatonError } from '../../../../shared/contract/errors.ts';
import type { Caller } from '../../identity/caller.ts';
import { isStoreAway, isStoreFull } from '../../../../shared/service-kit/redis/faults.ts';
import type { AccountSets } from '../../replicas/account-sets.ts';
import type { Replica } from '../../replicas/replica.ts';
import type { Metrics } from '../../telemetry/metrics.ts';
import type { CatchUp } from '../delivery/catch-up.ts';
import type { Closing } from '../upkeep/closing.ts';
import { isPosition } from '../stream/frames.ts';
import { spreadRetryMs } from '../upkeep/heartbeat.ts';
import type { LocalStreams } from '../local-streams.ts';
import { makeLanes } from '../../lanes.ts';
import { countOpened, sendReady } from './ready.ts';
import type { RowKeeper } from './row-keeper.ts';
import type { Attached, StreamStore } from '../store.ts';
import { Stream } from '../stream/stream.ts';
import type { Sweeper } from '../upkeep/sweeper.ts';

/** A superseded client must not come back by itself. If it does, it should come late. */
export const SUPERSEDED_RETRY_MS = 60_000;

/**
 * Number of streams that open at once. In a reconnect storm the others wait, so that the store answers each in time.
 */
const OPENING_AT_ONCE = 200;

export interface OpenRequest {
  res: ServerResponse;
  caller: Caller;
  /** Device id, or `~<name>`. */
  device: string;
  /** The id as the client sent it; null when it sent none. */
  lastEventId: string | null;
}

interface OpeningParts {
  streams: LocalStreams;
  store: Pick<StreamStore, 'attach'>;
  accounts: Pick<AccountSets, 'ensure'>;
  replica: Pick<Replica, 'id'>;
  /** Whether the device was signed out, as far as this replica has heard. */
  isRevoked: (account: string, deviceId: string) => boolean;
  rows: RowKeeper;
  catchUp: CatchUp;
  closing: Closing;
  sweeper: Sweeper;
  /** Called when an attach has returned what it changed in the account. */
  onAttached: (stream: Stream, attached: Attached) => void;
  /** Called when a live stream can be written to again. */
  onDrained: (stream: Stream) => void;
  metrics: Metrics;
  timing: { rotateMs: number; heartbeatMs: number };
  maxStreams: number;
  onFailure: (task: string, error: unknown) => void;
}

/** Opens streams, from the request to the first page, and opens streams again whose position or presence was lost. */
export class Opening {
  readonly #parts: OpeningParts;
  readonly #asking = makeLanes(OPENING_AT_ONCE);

  constructor(parts: OpeningParts) {
    this.#parts = parts;
  }

  /**
   * Serves one stream. Rejects only with an error that a client can mend (`name_taken`, `session_revoked`). For a
   * failure of the service it answers 200 and a `reconnect` event, because a native EventSource gives up on any other
   * status.
   */
  async open({ res, caller, device, lastEventId }: OpenRequest): Promise<void> {
    const { streams, maxStreams, isRevoked, closing, timing, onDrained } = this.#parts;
    const { account, deviceId } = caller;
    // This check runs in the same tick that adds the stream: a revocation comes before it, or finds the stream.
    if (deviceId !== null && isRevoked(account, deviceId)) throw new BatonError('session_revoked');
    // The client left during authentication, so no later event will report its end.
    if (res.destroyed) return;
    const isMalformed = lastEventId !== null && !isPosition(lastEventId);
    const position = isMalformed ? '' : (lastEventId ?? '');
    const rotateAtMs = performance.now() + timing.rotateMs * (0.8 + 0.2 * Math.random());
    const stream = new Stream({ res, caller, device, position, rotateAtMs });
    if (closing.isDraining || streams.size >= maxStreams) {
      return stream.end(closing.isDraining ? 'draining' : 'busy', spreadRetryMs(1_000, 5_000));
    }
    stream.socket.listen({
      onClose: () => closing.close(stream),
      // Presence that came while the socket was full was not written, and nothing else would send it again.
      onDrain: () => stream.state.isLive && onDrained(stream),
    });
    // The stream is added before the attach is sent, because an event between the attach and its answer must find it.
    streams.add(stream);
    await this.#attach(stream, isMalformed);
  }

  /** Opens a stream again, if its state allows it. Never rejects, because such a stream has had its `ready`. */
  async restart(stream: Stream): Promise<void> {
    if (stream.restart()) await this.#attach(stream, false);
  }

  /**
   * Handles an attach that the store refused: it closed the stream, the account is at its limit, or a later attach came
   * first.
   */
  refuse(stream: Stream, outcome: Attached['outcome']): void {
    if (outcome === 'gone') return stream.end('superseded', SUPERSEDED_RETRY_MS);
    if (outcome === 'busy' || !stream.readySent) return stream.end('busy', spreadRetryMs(5_000, 15_000));
    this.#tryLater(stream);
  }

  async #attach(stream: Stream, isMalformed: boolean): Promise<void> {
    try {
      const attached = await this.#askStore(stream);
      if (attached === null || stream.isOver) return;
      stream.socket.start();
      if (attached.opened === null) return this.refuse(stream, attached.outcome);
      this.#parts.onAttached(stream, attached);
      this.#sendReady(stream, attached, attached.opened, isMalformed);
      if (stream.state.go('attached')) this.#parts.catchUp.start(stream, attached.opened.page);
      const postponed = stream.attaches.takePostponed();
      if (postponed !== undefined) this.#parts.sweeper.attachSoon(stream, postponed);
    } catch (error) {
      this.#failed(stream, error);
    }
  }

  /**
   * Attaches a stream and restores a missing row; resolves to null when the stream closed while it waited. Asks the
   * broker outside of the lane, so that a slow broker does not hold up others.
   */
  async #askStore(stream: Stream): Promise<Attached | null> {
    const { rows } = this.#parts;
    const attached = await this.#askOnce(stream);
    if (attached === null || !rows.isMissing(stream, attached)) return attached;
    return (await rows.restore(stream)) ? this.#askOnce(stream) : attached;
  }

  #askOnce(stream: Stream): Promise<Attached | null> {
    const { store, accounts, replica, streams } = this.#parts;
    return this.#asking.run('', async () => {
      if (stream.isOver) return null;
      // A reaper finds the accounts of a dead replica in its set. So the account is added before the attach, which shows
      // the device online to the others.
      await accounts.ensure(replica.id, stream.account);
      if (stream.isOver) return null;
      return store.attach(stream, true, streams.idsOf(stream.account));
    });
  }

  /** Sends `ready` if one is due: the first, or another after the position or the presence was lost. */
  #sendReady(stream: Stream, attached: Attached, opened: NonNullable<Attached['opened']>, isMalformed: boolean): void {
    const { metrics, replica, timing } = this.#parts;
    const lostReason = isMalformed ? 'expired' : opened.lostReason;
    if (lostReason !== null) metrics.resets_total.inc({ reason: lostReason });
    else if (stream.readySent && stream.needsReady) metrics.repairs_total.inc({ cause: 'lost presence' });
    if (!stream.readySent) countOpened(metrics, stream, lostReason ?? 'resumed');
    if (lostReason === null && !stream.needsReady) return;
    sendReady(stream, { attached, opened, lostReason, heartbeatMs: timing.heartbeatMs, serverId: replica.id });
  }

  #failed(stream: Stream, error: unknown): void {
    if (stream.isOver) return;
    const isAway = isStoreAway(error) || isStoreFull(error);
    const isMendable = error instanceof BatonError && error.status < 500;
    if (stream.readySent || !(isAway || isMendable)) this.#parts.onFailure('open stream', error);
    if (stream.readySent && isAway) return this.#tryLater(stream);
    // Another device may have taken its name meanwhile; a new request gets that error.
    if (stream.readySent) return stream.end('rotate', spreadRetryMs(500, 3_000));
    if (!isMendable) return stream.end('store', isAway ? spreadRetryMs(1_000, 3_000) : spreadRetryMs(5_000, 15_000));
    this.#parts.closing.close(stream);
    throw error;
  }

  #tryLater(stream: Stream): void {
    if (stream.state.go('openingFailed')) this.#parts.sweeper.attachSoon(stream, stream.attaches.takePostponed());
  }
}
