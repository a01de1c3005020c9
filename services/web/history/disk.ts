import { abortIn, isPageLeft } from '../left-page.ts';
import { makeQueue, type Queue } from '../outbox/queue.ts';
import { makeAnswering } from './answering.ts';
import { type Database, nameOf, openHistory } from './database.ts';
import { type History, makeHistory, makeTurns } from './history.ts';

type OnChange = (thread: string) => void;

export interface Stored {
  readonly history: History;
  readonly queue: Queue;
}

export function storedIn(database: Database, onChange: OnChange): Stored {
  const inTurn = makeTurns();
  return {
    history: makeHistory(database, onChange, inTurn),
    queue: makeQueue(database, onChange, inTurn),
  };
}

/** Tells whether a database did not answer. */
export const isSilent = (error: unknown): boolean => isNamed(error, 'TimeoutError');

const isNamed = (error: unknown, name: string): boolean => error instanceof DOMException && error.name === name;

/** Tells whether the caller gave a value that cannot be stored anywhere, which is no fault of the store. */
const isOfCaller = (error: unknown): boolean => isNamed(error, 'DataCloneError');

/**
 * Makes the history and the outbox on the disk from an open database. A browser may lose the connection to it, as Safari
 * does after sleep, abort a transaction, or not answer. Work that failed is repeated once on a database that is opened again. One that
 * was removed meanwhile, because somebody signed out, is not made again.
 */
export function makeDisk(opened: Database, userId: string, onChange: OnChange) {
  let database = opened;
  let stored = storedIn(opened, onChange);
  let reopening: Promise<void> | null = null;
  let isClosed = false;

  async function reopen(): Promise<void> {
    const next = await openHistory(userId, { mustExist: true });
    if (isClosed) return next.close();
    database.close();
    database = next;
    stored = storedIn(next, onChange);
  }

  const answered = makeAnswering();

  /** Does work that rejects when the database does not answer, and does not happen later then. */
  async function tryOn<T>(now: Stored, work: (now: Stored) => Promise<T>): Promise<T> {
    const used = database;
    try {
      return await answered(work(now));
    } catch (error) {
      if (isSilent(error)) {
        abortIn(nameOf(userId));
        used.close();
      }
      throw error;
    }
  }

  const isOver = (): boolean => isClosed || isPageLeft();
  /** Tells whether the store is the cause of an error, and not the caller or the end of the page. */
  const isToBlame = (error: unknown): boolean => !isOver() && !isOfCaller(error);

  return {
    isOver,
    isToBlame,
    database: (): Database => database,
    answered,

    /** Runs work whose every step is stored as a whole or not at all. Rejects with the error of the store. */
    async run<T>(work: (now: Stored) => Promise<T>): Promise<T> {
      const tried = stored;
      try {
        return await tryOn(tried, work);
      } catch (error) {
        // Another connection finds no more space.
        if (!isToBlame(error) || isNamed(error, 'QuotaExceededError')) throw error;
        if (stored === tried) {
          reopening ??= reopen().finally(() => {
            reopening = null;
          });
          await reopening.catch(() => {
            throw error;
          });
        }
        return tryOn(stored, work);
      }
    },

    close(): void {
      isClosed = true;
      database.close();
    },
  };
}

export type Disk = ReturnType<typeof makeDisk>;
