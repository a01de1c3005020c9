/**
 * The files of a transfer that move at a time: several small ones, or one large one. They move in their order, and none is
 * further ahead of the first one than that: a receiver fetches the first files first, and the relay has few places. If
 * later files took them, each side would wait for the other.
 */
export interface FileQueue {
  /** Begins to move files. It is done at once if there is nothing to move. */
  pump(): void;
  /** Moves a file at once, even one that was done or still waits: the receiver waits for it, however many others move. */
  reopen(index: number): void;
}

/** From this size on, a single file is as fast as several. */
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
  const moving = new Set<number>();
  const again = new Set<number>();
  let hasFailed = false;

  const costOf = (index: number): number => ((sizes[index] ?? 0) >= LARGE_BYTES ? concurrency : 1);
  const load = (): number => [...moving].reduce((sum, index) => sum + costOf(index), 0);

  async function run(index: number): Promise<void> {
    try {
      await move(index);
    } catch (error) {
      if (!hasFailed) onFailed(error);
      hasFailed = true;
      return;
    } finally {
      moving.delete(index);
    }
    // The file was reopened while it moved, so it is moved once more. Mostly there is nothing to do.
    if (again.delete(index)) start(index);
    else if (waiting.size > 0) pump();
    else if (moving.size === 0) onDone();
  }

  function start(index: number): void {
    if (hasFailed) return;
    waiting.delete(index);
    moving.add(index);
    void run(index);
  }

  function pump(): void {
    for (const index of waiting) {
      const ahead = index - Math.min(index, ...moving);
      if (ahead >= concurrency || (moving.size > 0 && load() + costOf(index) > concurrency)) return;
      start(index);
    }
  }

  return {
    pump() {
      pump();
      if (waiting.size === 0 && moving.size === 0) onDone();
    },
    reopen(index) {
      if (moving.has(index)) again.add(index);
      else start(index);
    },
  };
}
