import type { Clock } from './clock.ts';

/** Watches one connection, and calls `onSilent` when no byte came for the limit. */
export interface Silence {
  /** Notes that bytes arrived. Cheap, because it touches no timer. */
  heard(): void;
  setLimit(ms: number): void;
  /** Returns the milliseconds since the last byte, or since the watch began. */
  quietMs(): number;
  stop(): void;
}

/**
 * Uses one timer for the whole life of a connection. When the timer fires early, because bytes came meanwhile, it is set
 * again for the remaining time. To set it at every chunk would cost more than reading the chunk.
 */
export function watchSilence(watch: { clock: Clock; limitMs: number; onSilent: () => void }): Silence {
  const { clock, onSilent } = watch;
  let { limitMs } = watch;
  let heardAt = clock.now();
  let cancel = clock.after(limitMs, check);

  function check(): void {
    const quietMs = clock.now() - heardAt;
    // The clock was set back, so the time is measured from now on.
    if (quietMs < 0) heardAt = clock.now();
    if (quietMs >= limitMs) onSilent();
    else cancel = clock.after(limitMs - Math.max(quietMs, 0), check);
  }

  return {
    heard() {
      heardAt = clock.now();
    },
    setLimit(ms) {
      if (ms === limitMs) return;
      limitMs = ms;
      cancel();
      cancel = clock.after(ms, check);
    },
    quietMs: () => clock.now() - heardAt,
    stop() {
      cancel();
    },
  };
}
