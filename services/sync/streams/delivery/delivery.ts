import type { EventName } from '../../../../shared/contract/events.ts';
import type { RevokedReason } from '../../../../shared/contract/modules/sessions.ts';
import type { BusEvent } from '../../redis/bus/bus.ts';
import type { Metrics } from '../../telemetry/metrics.ts';
import type { CatchUp } from './catch-up.ts';
import { addressed, frame } from '../stream/frames.ts';
import type { LocalStreams } from '../local-streams.ts';
import { SUPERSEDED_RETRY_MS } from '../opening/opening.ts';
import type { Stream } from '../stream/stream.ts';

/** When a client that has to authenticate again should come back. */
const SHOW_AGAIN_MS = 100;

interface DeliveryParts {
  streams: LocalStreams;
  catchUp: CatchUp;
  /** Called when a newer presence of the account was announced; `snapshot` as in `BusListener`. */
  onPresence: (account: string, version: number, snapshot: string) => void;
  /** Called when something was announced for an account that has no stream here. */
  onAbsent: (account: string) => void;
  /** Returns the time of the store's clock, which says when events were appended. */
  storeNowMs: () => number;
  metrics: Metrics;
}

/** Delivers the announcements to this replica to its streams. */
export class Delivery {
  readonly #parts: DeliveryParts;

  constructor(parts: DeliveryParts) {
    this.#parts = parts;
  }

  /**
   * Delivers an event of the log. A live stream whose position is right before the event takes it; a stream that missed
   * something reads the log.
   */
  event(event: BusEvent): void {
    const entry = this.#parts.streams.find(event.account);
    if (!entry) return this.#parts.onAbsent(event.account);
    let chunk: Buffer | null = null;
    const now = this.#parts.storeNowMs();
    for (const stream of entry.streams) {
      if (!stream.state.isLive) {
        stream.position.miss();
      } else if (event.prev === stream.position.id) {
        stream.position.advance(event.id);
        if (!addressed(event.to, stream.device)) continue;
        chunk ??= frame(event.name as EventName, event.data, event.id);
        this.#parts.metrics.events_delivered_total.inc({ event: event.name });
        this.#parts.metrics.delivery_latency_seconds.observe(Math.max(0, now - Number(event.appendedAt)) / 1000);
        if (!stream.writePosition(chunk) && stream.state.go('fellBehind')) this.#parts.catchUp.start(stream);
      } else if (!stream.position.saw(event.id)) {
        this.fellBehind(stream, 'gap');
      }
    }
  }

  /**
   * Delivers an event that is in no log to live streams that can be written to. The others learn it from the next
   * event.
   */
  unlogged(account: string, name: string, to: string, data: string): void {
    const chunk = frame(name as EventName, data);
    for (const stream of this.#parts.streams.find(account)?.streams ?? []) {
      if (stream.state.isLive && stream.socket.writable && addressed(to, stream.device)) stream.socket.write(chunk);
    }
  }

  /** Announces that the account's presence has this version. */
  presence(account: string, version: number, snapshot: string): void {
    if (!this.#parts.streams.find(account)) return this.#parts.onAbsent(account);
    this.#parts.onPresence(account, version, snapshot);
  }

  /** Ends a stream whose place a newer stream of the same device took. */
  superseded(streamId: string): void {
    this.#parts.streams.all.get(streamId)?.end('superseded', SUPERSEDED_RETRY_MS);
  }

  /**
   * Ends the streams of a device that was signed out. With `deviceId` null, ends those of the session without a device,
   * or of all such sessions when `sessionId` is null. A stream whose session is unknown is ended so that its client
   * comes back, and is accepted or refused then.
   */
  endRevoked(account: string, deviceId: string | null, reason: RevokedReason, sessionId: string | null): void {
    for (const stream of this.#parts.streams.find(account)?.streams ?? []) {
      const { deviceId: device, sessionId: own } = stream.caller;
      if (device !== deviceId) continue;
      if (sessionId !== null && own === undefined) stream.end('rotate', SHOW_AGAIN_MS);
      else if (sessionId === null || own === sessionId) stream.endRevoked(reason);
    }
  }

  /**
   * Makes the clients of a device's streams come back, to be accepted or refused by the credentials that they show
   * then.
   */
  showAgain(account: string, deviceId: string): void {
    for (const stream of this.#parts.streams.find(account)?.streams ?? []) {
      if (stream.caller.deviceId === deviceId) stream.end('rotate', SHOW_AGAIN_MS);
    }
  }

  /** Tells all streams that the store is away. They stay open. */
  degrade(): void {
    for (const stream of this.#parts.streams.all.values()) stream.degrade();
  }

  /** Makes a live stream that missed something read the log; `source` says what found it. */
  fellBehind(stream: Stream, source: string): void {
    if (!stream.state.go('fellBehind')) return;
    this.#parts.metrics.gap_repairs_total.inc({ source });
    this.#parts.catchUp.start(stream);
  }
}
