import { frame } from './frames.ts';
import type { Stream } from './stream.ts';

interface HeartbeatParts {
  streams: ReadonlyMap<string, Stream>;
  heartbeatMs: number;
  isUp: () => boolean;
}

/**
 * While the store is away nobody is sent away, who could not come back; then they go over such a time. But not for ever:
 * this replica may be the only one that does not reach it.
 */
const ROTATE_AGAIN_MS = 30_000;
const ROTATE_AT_LAST_MS = 15 * 60_000;

/** When a client that is sent away should come back: at its own moment, so that a crowd does not come as one. */
export const spreadRetryMs = (fromMs: number, toMs: number): number =>
  Math.round(fromMs + Math.random() * (toMs - fromMs));

/** One timer for all streams: pings the quiet, ends the slow, and rotates the old. */
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
      if (stream.isLingering(now)) stream.destroy();
      else if (stream.isTooSlow(now)) stream.end('slow', spreadRetryMs(1_000, 5_000));
      else if (now >= stream.rotateAtMs) this.#rotate(stream, now);
      else if (stream.readySent && stream.writable && stream.isQuiet(now, this.#parts.heartbeatMs)) {
        // The position as id: a quiet device must not fall behind the log's end.
        stream.writePosition(frame('ping', '{}', stream.position), now);
      }
    }
  }

  #rotate(stream: Stream, now: number): void {
    stream.overdueSinceMs ??= now;
    const isAway = !this.#parts.isUp() || stream.isDegraded;
    if (isAway && now - stream.overdueSinceMs < ROTATE_AT_LAST_MS) {
      stream.rotateAtMs = now + ROTATE_AGAIN_MS * (1 + Math.random());
    } else stream.end('rotate', spreadRetryMs(100, 1_000));
  }
}
