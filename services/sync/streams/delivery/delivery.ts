import type { EventName } from '../../../../shared/contract/events.ts';
import type { RevokedReason } from '../../../../shared/contract/modules/sessions.ts';
import type { BusEvent } from '../../redis/bus/bus.ts';
import type { Metrics } from '../../telemetry/metrics.ts';
import type { CatchUp } from './catch-up.ts';
import { addressed, frame } from '../stream/frames.ts';
import type { LocalStreams } from '../local-streams.ts';
import { SUPERSEDED_RETRY_MS } from '../opening/opening.ts';
import type { Stream } from '../stream/stream.ts';

/** A client that is sent away to show who it is comes back after so long. */
const SHOW_AGAIN_MS = 100;

interface DeliveryParts {
  streams: LocalStreams;
  catchUp: CatchUp;
  /** A newer presence of the account was announced; `snapshot` as in `BusListener`. */
  onPresence: (account: string, version: number, snapshot: string) => void;
  /** Something was announced for an account of which no stream is here. */
  onAbsent: (account: string) => void;
  /** The clock by which events say when they were appended. */
  storeNowMs: () => number;
  metrics: Metrics;
}

/** What is announced to this replica, handed on to its streams. */
export class Delivery {
  readonly #parts: DeliveryParts;

  constructor(parts: DeliveryParts) {
    this.#parts = parts;
  }

  /** An event of the log. A live stream that stands right before it takes it; one that missed something reads the log. */
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
        if (!stream.writePosition(chunk) && stream.state.fellBehind()) this.#parts.catchUp.start(stream);
      } else if (!stream.position.saw(event.id)) {
        this.fellBehind(stream, 'gap');
      }
    }
  }

  /** What is in no log, for streams that are live and can be written to; the others learn it from the next event. */
  unlogged(account: string, name: string, to: string, data: string): void {
    const chunk = frame(name as EventName, data);
    for (const stream of this.#parts.streams.find(account)?.streams ?? []) {
      if (stream.state.isLive && stream.socket.writable && addressed(to, stream.device)) stream.socket.write(chunk);
    }
  }

  /** The account's presence has this version. */
  presence(account: string, version: number, snapshot: string): void {
    if (!this.#parts.streams.find(account)) return this.#parts.onAbsent(account);
    this.#parts.onPresence(account, version, snapshot);
  }

  /** A newer stream of the same device took the place of this one. */
  superseded(streamId: string): void {
    this.#parts.streams.all.get(streamId)?.end('superseded', SUPERSEDED_RETRY_MS);
  }

  /**
   * Ends the streams of a device that was signed out; without a device those of the session, of all when it is null. A
   * stream of which nobody says whose session it is has its client come back, who is let in or refused then.
   */
  endRevoked(account: string, deviceId: string | null, reason: RevokedReason, sessionId: string | null): void {
    for (const stream of this.#parts.streams.find(account)?.streams ?? []) {
      const { deviceId: device, sessionId: own } = stream.caller;
      if (device !== deviceId) continue;
      if (sessionId !== null && own === undefined) stream.end('rotate', SHOW_AGAIN_MS);
      else if (sessionId === null || own === sessionId) stream.endRevoked(reason);
    }
  }

  /** Whoever holds a stream of the device comes back, and is let in or refused by what they show then. */
  showAgain(account: string, deviceId: string): void {
    for (const stream of this.#parts.streams.find(account)?.streams ?? []) {
      if (stream.caller.deviceId === deviceId) stream.end('rotate', SHOW_AGAIN_MS);
    }
  }

  /** The store is away: streams stay, and say so. */
  degrade(): void {
    for (const stream of this.#parts.streams.all.values()) stream.degrade();
  }

  /** A live stream missed something, as `source` has found: it reads the log. */
  fellBehind(stream: Stream, source: string): void {
    if (!stream.state.fellBehind()) return;
    this.#parts.metrics.gap_repairs_total.inc({ source });
    this.#parts.catchUp.start(stream);
  }
}
