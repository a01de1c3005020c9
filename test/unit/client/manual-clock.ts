import type { Clock } from '../../../shared/client/time/clock.ts';

interface Timer {
  readonly at: number;
  readonly run: () => void;
}

/** A clock that moves when the test says so. */
export interface ManualClock extends Clock {
  /** Moves on and fires what becomes due, in order. */
  advance(ms: number): void;
  /** Timers that are set. */
  pending(): number;
}

export function makeManualClock(): ManualClock {
  const timers = new Set<Timer>();
  let now = 1_700_000_000_000;
  const due = (until: number) => [...timers].filter(({ at }) => at <= until).sort((a, b) => a.at - b.at)[0];
  return {
    now: () => now,
    after(ms, run) {
      const timer = { at: now + ms, run };
      timers.add(timer);
      return () => timers.delete(timer);
    },
    advance(ms) {
      const until = now + ms;
      for (let timer = due(until); timer !== undefined; timer = due(until)) {
        timers.delete(timer);
        now = Math.max(now, timer.at);
        timer.run();
      }
      now = until;
    },
    pending: () => timers.size,
  };
}
