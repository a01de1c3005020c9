/** Time as the client sees it. A test provides its own. */
export interface Clock {
  /**
   * Returns the milliseconds of the wall clock. A monotonic clock stops while a laptop sleeps, and a stream that slept must
   * be found silent. Code that subtracts times allows for a clock that was set back.
   */
  now(): number;
  /** Calls `run` once after `ms`, unless the returned function is called before. */
  after(ms: number, run: () => void): () => void;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  after(ms, run) {
    const timer = setTimeout(run, ms);
    return () => clearTimeout(timer);
  },
};

/** Settles like `work`, or rejects with the signal's reason as soon as it is aborted. `work` itself continues. */
export function untilAborted<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal?.reason);
    if (signal?.aborted) abort();
    signal?.addEventListener('abort', abort, { once: true });
    work.then(resolve, reject).finally(() => signal?.removeEventListener('abort', abort));
  });
}

/**
 * Resolves after `ms`; rejects with the reason of the signal as soon as that is aborted. `onBegin` gets the function that ends
 * the pause early.
 */
export function pause(
  ms: number,
  signal: AbortSignal | undefined,
  clock: Clock = systemClock,
  onBegin?: (end: () => void) => unknown,
): Promise<void> {
  let cancel = () => {};
  const over = new Promise<void>((resolve) => {
    cancel = clock.after(ms, resolve);
    onBegin?.(resolve);
  });
  return untilAborted(over, signal).finally(cancel);
}
