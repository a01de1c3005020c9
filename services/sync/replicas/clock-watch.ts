import type { Logger } from 'pino';

/**
 * Difference of the clocks above which times that people compare are wrong: logs, latencies, lifetimes of TURN
 * credentials.
 */
const SKEWED_MS = 2_000;

/** Makes a watch that warns when the clock of this machine and the store's differ, once each time that this begins. */
export function makeClockWatch({ skewMs, logger }: { skewMs: () => number | null; logger: Logger }) {
  let isSkewed = false;

  /** Returns the warning; null while the clocks agree, or nothing is known. */
  function warning(): string | null {
    const ms = skewMs();
    if (ms === null || Math.abs(ms) <= SKEWED_MS) return null;
    const seconds = Math.round(Math.abs(ms) / 1000);
    return `the clock of this machine is ${seconds} s ${ms > 0 ? 'ahead of' : 'behind'} that of the store: one of them is wrong`;
  }

  return {
    warning,

    /** Logs a change. Called with each reading of the store's clock. */
    look(): void {
      const said = warning();
      if (said !== null && !isSkewed) logger.warn(said);
      if (said === null && isSkewed) logger.warn('the clocks of this machine and of the store agree again');
      isSkewed = said !== null;
    },
  };
}
