import type { Logger } from 'pino';

/** Further apart than this, times that people compare are wrong: logs, latencies, lives of TURN credentials. */
const SKEWED_MS = 2_000;

/** Says when the clock of this machine and the store's are apart, once each time that they come to be. */
export function makeClockWatch({ skewMs, logger }: { skewMs: () => number | null; logger: Logger }) {
  let isSkewed = false;

  /** Null while they agree, or nothing is known. */
  function warning(): string | null {
    const ms = skewMs();
    if (ms === null || Math.abs(ms) <= SKEWED_MS) return null;
    const seconds = Math.round(Math.abs(ms) / 1000);
    return `the clock of this machine is ${seconds} s ${ms > 0 ? 'ahead of' : 'behind'} that of the store: one of them is wrong`;
  }

  return {
    warning,

    /** To be called with each reading of the store's clock. */
    look(): void {
      const said = warning();
      if (said !== null && !isSkewed) logger.warn(said);
      if (said === null && isSkewed) logger.warn('the clocks of this machine and of the store agree again');
      isSkewed = said !== null;
    },
  };
}
