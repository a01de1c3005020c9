/** The least time between two runs: what changes in a burst is read and drawn together. */
const PACE_MS = 100;

/**
 * Makes a function that runs `work`, at once or 100 ms after its last run. Calls meanwhile lead to one more run. The promise
 * resolves when the last of these runs has ended, and rejects when one fails.
 */
export function makePaced(work: () => Promise<void>): () => Promise<void> {
  let isDue = false;
  let running: Promise<void> | null = null;
  let endedAtMs = Number.NEGATIVE_INFINITY;

  async function run(): Promise<void> {
    try {
      while (isDue) {
        const waitMs = endedAtMs + PACE_MS - performance.now();
        if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs));
        isDue = false;
        await work();
        endedAtMs = performance.now();
      }
    } finally {
      running = null;
    }
  }

  return () => {
    isDue = true;
    running ??= run();
    return running;
  };
}
