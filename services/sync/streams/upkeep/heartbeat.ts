import { frame } from '../stream/frames.ts';
import type { Stream } from '../stream/stream.ts';

interface HeartbeatParts {
  streams: ReadonlyMap<string, Stream>;
  heartbeatMs: number;
  isUp: () => boolean;
}

/**
 * While the store is away no stream is rotated, because its client could not come back; the rotation is tried again after
 * once to twice this time. A rotation does not wait for ever, because this replica may be the only one that does not
 * reach the store.
 */
const ROTATE_AGAIN_MS = 30_000;
const ROTATE_AT_LAST_MS = 15 * 60_000;

/** Returns when a client that is sent away should come back: at a random moment, so that not all come at once. */
export const spreadRetryMs = (fromMs: number, toMs: number): number =>
  Math.round(fromMs + Math.random() * (toMs - fromMs));

/** One timer for all streams: pings quiet streams, ends slow ones, and rotates old ones. */
export class Heartbeat {
  readonly #parts: HeartbeatParts;
  #timer: NodeJS.Timeout | null = null;

  constructor(parts: HeartbeatParts) {
    this.#parts = parts;
  }

  start(): void {
    this.#timer ??= setInterval(() => this.#tick(), Math.min(1_000, this.#parts.heartbeatMs / 4));
  }

  stop(): void {
    if (this.#timer) clearInterval(this.#timer);
    this.#timer = null;
  }

  #tick(): void {
    const now = performance.now();
    for (const stream of this.#parts.streams.values()) {
      if (stream.socket.isLingering(now)) stream.socket.destroy();
      else if (stream.socket.isTooSlow(now)) stream.end('slow', spreadRetryMs(1_000, 5_000));
      else if (stream.rotation.isDue(now)) this.#rotate(stream, now);
      else if (stream.readySent && stream.socket.writable && stream.isQuiet(now, this.#parts.heartbeatMs)) {
        // The ping carries the position as its id, so that a quiet client does not keep an old position.
        stream.writePosition(frame('ping', '{}', stream.position.id), now);
      }
    }
  }

  #rotate(stream: Stream, now: number): void {
    const isAway = !this.#parts.isUp() || stream.isDegraded;
    if (isAway && stream.rotation.overdueMs(now) < ROTATE_AT_LAST_MS) {
      stream.rotation.postpone(now + ROTATE_AGAIN_MS * (1 + Math.random()));
    } else stream.end('rotate', spreadRetryMs(100, 1_000));
  }
}
