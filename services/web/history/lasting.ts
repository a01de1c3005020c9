import { type Database, openHistory, type StoreName, STORES } from './database.ts';
import { isPageLeft } from '../left-page.ts';
import { makeQueue, type Queue } from '../outbox/queue.ts';
import { type History, makeHistory, makeTurns } from './history.ts';

/*
 * A history and an outbox that continue in memory, as long as the page is open, if the browser does not keep them, from
 * the beginning or later. `onLost` is called once then.
 */
interface LastingParts {
  userId: string;
  onChange: (thread: string) => void;
  onLost: () => void;
}

/** Makes an empty database in memory. Few need one, so that its code is not part of the first load. */
const memoryDatabase = async (): Promise<Database> => (await import('./memory-database.ts')).memoryDatabase();

/** Copies the readable part of a database that can no longer be written. */
async function copyOf(disk: Database): Promise<Database> {
  const memory = await memoryDatabase();
  for (const name of Object.keys(STORES) as StoreName[]) {
    try {
      const [keys, values] = await Promise.all([disk.getAllKeys(name), disk.getAll(name)]);
      const isKeyTold = STORES[name].keyPath === null;
      for (const [i, value] of values.entries()) {
        if (isKeyTold) await memory.put('settings', value, String(keys[i]));
        else await memory.put(name, value);
      }
    } catch {
      // This store is lost.
    }
  }
  return memory;
}

/** Tells whether the caller gave a value that cannot be stored anywhere, which is no fault of the store. */
const isOfCaller = (error: unknown): boolean => error instanceof DOMException && error.name === 'DataCloneError';

type Members = Record<string, unknown>;

/** Returns an object with the members of `now()`, including nested ones. `run` runs each of them. */
function relay(now: () => Members, run: (work: (members: Members) => unknown) => unknown): Members {
  const entries = Object.entries(now()).map(([name, member]) => {
    if (typeof member !== 'function') {
      const inner = (members: Members) => members[name] as Members;
      return [
        name,
        relay(
          () => inner(now()),
          (work) => run((members) => work(inner(members))),
        ),
      ];
    }
    return [
      name,
      (...given: unknown[]) => run((members) => (members[name] as (...all: unknown[]) => unknown)(...given)),
    ];
  });
  return Object.fromEntries(entries) as Members;
}

async function opened(userId: string): Promise<Database | null> {
  try {
    return await openHistory(userId);
  } catch {
    return null;
  }
}

interface Stored {
  readonly history: History;
  readonly queue: Queue;
}

function storedIn(database: Database, onChange: (thread: string) => void): Stored {
  const inTurn = makeTurns();
  return {
    history: makeHistory(database, onChange, inTurn),
    queue: makeQueue(database, onChange, inTurn),
  };
}

export async function openLasting({ userId, onChange, onLost }: LastingParts): Promise<Stored> {
  const disk = await opened(userId);
  if (disk === null) {
    onLost();
    return storedIn(await memoryDatabase(), onChange);
  }
  // Its code is fetched now, because there may be no network when it is needed.
  void memoryDatabase().catch(() => {});
  const kept = storedIn(disk, onChange);
  let memory: Promise<Stored> | null = null;
  let isClosed = false;

  const inMemory = (): Promise<Stored> => {
    memory ??= copyOf(disk).then((copy) => {
      onLost();
      return storedIn(copy, onChange);
    });
    return memory;
  };
  const members = (stored: Stored) => stored as unknown as Members;

  async function run(work: (now: Members) => unknown): Promise<unknown> {
    if (memory !== null) return work(members(await memory));
    try {
      return await work(members(kept));
    } catch (error) {
      if (isClosed || isPageLeft() || isOfCaller(error)) throw error;
      return work(members(await inMemory()));
    }
  }

  const { history, queue } = relay(() => members(kept), run) as unknown as Stored;
  return {
    queue,
    history: {
      ...history,
      sources: {
        ...history.sources,
        /** Large files that find no space do not mean that the store is lost. The caller works without them. */
        keep: (id, files) => (memory === null ? kept.history : history).sources.keep(id, files),
      },
      close() {
        isClosed = true;
        kept.history.close();
      },
    },
  };
}
