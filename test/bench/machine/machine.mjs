import { readFileSync } from 'node:fs';
import { cpus } from 'node:os';

/** Microseconds of one tick of /proc/stat (USER_HZ is 100 wherever Node runs). */
const TICK_MICROS = 10_000;

/** Returns the processor time of everything on this machine so far; null without /proc. */
function busyMicros() {
  try {
    const [user, nice, system, , , irq, softirq] = readFileSync('/proc/stat', 'utf8')
      .split(/\s+/)
      .slice(1, 8)
      .map(Number);
    return (user + nice + system + irq + softirq) * TICK_MICROS;
  } catch {
    return null;
  }
}

/**
 * Starts to watch. The returned function tells which share of the machine all others took since then, given what the
 * bench took.
 */
export function watchOthers() {
  const busy = busyMicros();
  const startedMs = performance.now();
  return (ownMicros) => {
    if (busy === null) return 0;
    const there = (performance.now() - startedMs) * 1_000 * cpus().length;
    return Math.max(0, (busyMicros() - busy - ownMicros) / there);
  };
}
