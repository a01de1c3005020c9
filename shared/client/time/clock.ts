/** Time as the client sees it. A test hands in its own. */
export interface Clock {
  /**
   * Milliseconds of the wall clock. The wall clock and not a monotonic one: that stands still while a laptop sleeps,
   * and a stream that slept must be found silent. Whoever subtracts allows for a clock that was set back.
   */
  now(): number;
  /** Calls `run` once, `ms` from now, unless the returned function is called before. */
  after(ms: number, run: () => void): () => void;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  after(ms, run) {
    const timer = setTimeout(run, ms);
    return () => clearTimeout(timer);
  },
};

/** Settles like `work`, or rejects with the signal's reason as soon as it is aborted. `work` itself goes on. */
export function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason);
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}
