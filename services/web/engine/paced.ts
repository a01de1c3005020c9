/** The least time between two runs: the changes of a burst are read and drawn together. */
const PACE_MS = 100;

/**
 * Makes a function that runs `work`, at once or 100 ms after its last run. Calls meanwhile lead to one more run, even when
 * that one fails. The promise resolves when the last of these runs has ended, and rejects when it failed.
 */
export function makePaced(work: () => Promise<void>): () => Promise<void> {
  let isDue = false;
  let running: Promise<void> | null = null;
  let endedAtMs = Number.NEGATIVE_INFINITY;

  async function run(): Promise<void> {
    while (isDue) {
      const waitMs = endedAtMs + PACE_MS - performance.now();
      if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs));
      isDue = false;
      try {
        await work();
      } catch (error) {
        if (!isDue) throw error;
      } finally {
        endedAtMs = performance.now();
      }
    }
  }

  return () => {
    isDue = true;
    running ??= run().finally(() => {
      running = null;
    });
    return running;
  };
}
