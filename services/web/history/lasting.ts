import { systemClock, pause } from '../../../shared/client/time/clock.ts';
import { pauseMs } from '../outbox/verdict.ts';
import { type Database, openHistory, type StoreName, STORES } from './database.ts';
import { type Disk, isSilent, makeDisk, type Stored, storedIn } from './disk.ts';
import { forwarding, type Members, type Work } from './forwarding.ts';

/*
 * A history and an outbox that continue in memory if the browser does not keep them: as long as the page is open if it never
 * did, otherwise until the disk takes everything that it has missed.
 */
interface LastingParts {
  userId: string;
  onChange: (thread: string) => void;
  /**
   * Called with true when what is shown exists only in this page, and with false when the disk has everything again.
   * `isSilent`: the database does not answer.
   */
  onLost: (isLost: boolean, isSilent: boolean) => void;
}

/** Makes an empty database in memory. Few need one, so that its code is not part of the first load. */
const memoryDatabase = async (): Promise<Database> => (await import('./memory-database.ts')).memoryDatabase();

/** Copies the readable part of a database that can no longer be written. */
async function copyOf({ answered, database }: Disk): Promise<Database> {
  const disk = database();
  const memory = await memoryDatabase();
  for (const name of Object.keys(STORES) as StoreName[]) {
    try {
      const [keys, values] = await answered(Promise.all([disk.getAllKeys(name), disk.getAll(name)]));
      const isKeyTold = STORES[name].keyPath === null;
      for (const [i, value] of values.entries()) {
        if (isKeyTold) await memory.put('settings', value, String(keys[i]));
        else await memory.put(name, value);
      }
    } catch {
      // This store is missing in memory. The disk has it again with the next page, or when it answers.
    }
  }
  return memory;
}

async function opened({ userId, onLost }: LastingParts): Promise<Database | null> {
  try {
    return await openHistory(userId);
  } catch (error) {
    onLost(true, isSilent(error));
    return null;
  }
}

const members = (stored: Stored) => stored as unknown as Members;

/**
 * Makes what stands in for a disk that refuses. It keeps the changes that the disk has missed, and repeats them there in
 * their order: each is one step on what the disk has by then, which other tabs may have changed.
 */
function makeStandIn(disk: Disk, { onChange, onLost }: LastingParts) {
  const missed: Work[] = [];
  let memory: Promise<Stored> | null = null;
  let back: Promise<void> | null = null;

  async function repeat(work: Work): Promise<void> {
    try {
      await disk.run(async (now) => work(members(now)));
    } catch (error) {
      // The disk never takes what is the fault of the work itself.
      if (error instanceof DOMException && disk.isToBlame(error)) throw error;
    }
  }

  /** Repeats what the disk has missed, and puts it back into use in the same moment as it has everything. */
  async function catchUp(from: Stored | null): Promise<void> {
    do {
      for (let [work] = missed; work !== undefined; [work] = missed) {
        await repeat(work);
        missed.shift();
      }
      const line = (await from?.queue.all()) ?? [];
      await disk.run(({ queue }) => queue.adopt(line));
    } while (missed.length > 0);
    memory = null;
    back = null;
    onLost(false, false);
  }

  async function goBack(stored: Promise<Stored>): Promise<void> {
    for (let failures = 0; ; failures += 1) {
      await pause(pauseMs(failures), undefined, systemClock);
      if (disk.isOver()) throw new Error('The page keeps no history any more');
      try {
        return await catchUp(await stored.catch(() => null));
      } catch {
        // The disk still refuses.
      }
    }
  }

  function begin(cause: unknown): Promise<Stored> {
    onLost(true, isSilent(cause));
    const stored = copyOf(disk).then((copy) => storedIn(copy, onChange));
    memory = stored;
    back = goBack(stored);
    back.catch(() => {});
    return stored;
  }

  return {
    isUsed: (): boolean => memory !== null,
    back: (): Promise<void> | null => back,

    async run(work: Work, isRead: boolean, cause: unknown): Promise<unknown> {
      const stored = memory ?? begin(cause);
      if (!isRead) missed.push(work);
      return work(members(await stored));
    },
  };
}

export async function openLasting(parts: LastingParts): Promise<Stored> {
  const { userId, onChange } = parts;
  const database = await opened(parts);
  if (database === null) return storedIn(await memoryDatabase(), onChange);
  // Its code is fetched now, because there may be no network when it is needed.
  void memoryDatabase().catch(() => {});
  const disk = makeDisk(database, userId, onChange);
  const standIn = makeStandIn(disk, parts);

  async function run(work: Work, isRead: boolean): Promise<unknown> {
    let cause: unknown = null;
    if (!standIn.isUsed()) {
      try {
        return await disk.run(async (now) => work(members(now)));
      } catch (error) {
        if (!disk.isToBlame(error)) throw error;
        cause = error;
      }
    }
    return standIn.run(work, isRead, cause);
  }

  const { history, queue } = forwarding(members(storedIn(database, onChange)), run) as unknown as Stored;
  const { sources } = history;
  return {
    queue,
    history: {
      ...history,
      sources: {
        ...sources,
        /** Large files that find no space do not mean that the store is lost. The caller works without them. */
        keep: (id, files) =>
          standIn.isUsed() ? sources.keep(id, files) : disk.run((now) => now.history.sources.keep(id, files)),
      },
      untilKept: standIn.back,
      close: disk.close,
    },
  };
}
