/**
 * Reads something again and again, and takes only the result of the newest read, because an older answer may come later.
 */
export function makeNewestReading<T>(read: () => Promise<T>) {
  let turns = 0;
  return async (take: (found: T) => void, failed: (error: unknown) => void): Promise<void> => {
    turns += 1;
    const turn = turns;
    await read().then(
      (found) => {
        if (turn === turns) take(found);
      },
      (error: unknown) => {
        if (turn === turns) failed(error);
      },
    );
  };
}
