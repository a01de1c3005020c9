/** The files of a transfer that move at a time: several small ones, or a large one alone. */
export interface FileQueue {
  /** Begins to move files. Done where there is nothing to move. */
  pump(): void;
  /** Moves a file after all, or again. */
  reopen(index: number): void;
}

/** From this size on a file is as fast alone. */
const LARGE_BYTES = 1024 * 1024;

interface Parts {
  sizes: readonly number[];
  concurrency: number;
  /** Moves a whole file. An error of it ends everything, and is reported once. */
  move: (index: number) => Promise<void>;
  onDone: () => void;
  onFailed: (error: unknown) => void;
}

export function makeFileQueue({ sizes, concurrency, move, onDone, onFailed }: Parts): FileQueue {
  const waiting = new Set(sizes.keys());
  const moving = new Map<number, number>();
  const again = new Set<number>();
  let hasFailed = false;

  const costOf = (index: number): number => ((sizes[index] ?? 0) >= LARGE_BYTES ? concurrency : 1);
  const load = (): number => [...moving.values()].reduce((sum, cost) => sum + cost, 0);

  async function run(index: number): Promise<void> {
    try {
      await move(index);
    } catch (error) {
      if (!hasFailed) onFailed(error);
      hasFailed = true;
      return;
    } finally {
      moving.delete(index);
      // The file was reopened while it moved, so it is moved once more. Mostly there is nothing to do.
      if (again.delete(index)) waiting.add(index);
    }
    if (waiting.size > 0) pump();
    else if (moving.size === 0) onDone();
  }

  function pump(): void {
    for (const index of waiting) {
      if (hasFailed || (moving.size > 0 && load() + costOf(index) > concurrency)) return;
      waiting.delete(index);
      moving.set(index, costOf(index));
      void run(index);
    }
  }

  return {
    pump() {
      pump();
      if (waiting.size === 0 && moving.size === 0) onDone();
    },
    reopen(index) {
      (moving.has(index) ? again : waiting).add(index);
      pump();
    },
  };
}
