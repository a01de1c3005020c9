import type { Clock } from './clock.ts';

/** Watches one connection and calls `onSilent` once nothing was heard on it for the limit. */
export interface Silence {
  /** Bytes arrived. Cheap: no timer is touched. */
  heard(): void;
  setLimit(ms: number): void;
  /** Milliseconds since the last byte, or since the watch began. */
  quietMs(): number;
  stop(): void;
}

/**
 * One timer for the whole life of a connection: when it fires early, because something was heard meanwhile, it is set
 * again for what is left. Setting it anew at every chunk would cost more than reading the chunk.
 */
export function watchSilence(watch: { clock: Clock; limitMs: number; onSilent: () => void }): Silence {
  const { clock, onSilent } = watch;
  let { limitMs } = watch;
  let heardAt = clock.now();
  let cancel = clock.after(limitMs, check);

  function check(): void {
    const quietMs = clock.now() - heardAt;
    // The clock was set back: measure from now on.
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
