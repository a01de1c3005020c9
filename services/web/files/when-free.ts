/** A tab or a page that has a file open closes it within a fraction of this time. */
const TRIES = 20;
const EVERY_MS = 100;

/**
 * Does `work` with stored files, and tries again while somebody else has one of them open. Rejects with the last error, or
 * with one that `isHeld` does not take for an open file.
 */
export async function whenFree<T>(
  work: () => Promise<T>,
  isHeld: (error: unknown) => boolean = () => true,
): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await work();
    } catch (error) {
      if (tries === TRIES || !isHeld(error)) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, EVERY_MS));
  }
}
