import { newId } from '../../shared/client/new-id.ts';
import { answerFor, watchHolder } from './lock-life.ts';

/** A lock that this page has. */
export interface Held {
  /** Aborted when a page that the user sees has taken the lock from this one, because this one did not move. */
  readonly lost: AbortSignal;
  /** Asks the browser whether the lock is still this page's. A page that was frozen hears of the loss only later. */
  isOurs(): Promise<boolean>;
}

/** The lock of a page that has none, because its browser has none. */
export const HELD_ALONE: Held = { lost: new AbortController().signal, isOurs: async () => true };

let pageId: Promise<string | undefined> | null = null;

/** Returns the id by which the browser lists the locks of this page. */
function findPageId(): Promise<string | undefined> {
  const name = `baton-page-${newId()}`;
  return navigator.locks.request(name, async () => {
    const { held = [] } = await navigator.locks.query();
    return held.find((lock) => lock.name === name)?.clientId;
  });
}

async function isOursNow(name: string): Promise<boolean> {
  pageId ??= findPageId();
  const [own, { held = [] }] = [await pageId, await navigator.locks.query()];
  return held.some((lock) => lock.name === name && lock.clientId === own);
}

/** Does work with a lock. It rejects at once when the lock is taken away. */
async function holdLock<T>(name: string, options: LockOptions, work: (held: Held) => Promise<T>): Promise<T> {
  const losing = new AbortController();
  let forget = (): void => {};
  const held: Held = {
    lost: losing.signal,
    isOurs: async () => !losing.signal.aborted && (await isOursNow(name).catch(() => !losing.signal.aborted)),
  };
  try {
    return await navigator.locks.request(name, options, () => {
      forget = answerFor(name);
      return work(held);
    });
  } catch (error) {
    losing.abort(error);
    throw error;
  } finally {
    forget();
  }
}

/**
 * Does work with a lock that only one page has. If the page that has it shows no life, a page that the user sees takes it
 * away. Then the promise rejects, and `work` has to stop by itself. `signal` ends the wait.
 */
export async function withLock<T>(
  name: string,
  work: (held: Held) => Promise<T>,
  { signal, onSilent }: { signal?: AbortSignal; onSilent?: () => void } = {},
): Promise<T> {
  const queued = new AbortController();
  let isTaken = false;
  let isHeld = false;
  const take = (): void => {
    isTaken = true;
    queued.abort();
  };
  const stopWatching = watchHolder(name, take, onSilent);
  const asked = signal === undefined ? queued.signal : AbortSignal.any([queued.signal, signal]);
  const begin = (held: Held): Promise<T> => {
    isHeld = true;
    stopWatching();
    return work(held);
  };
  try {
    return await holdLock(name, { signal: asked }, begin);
  } catch (error) {
    if (!isTaken || isHeld) throw error;
    return await holdLock(name, { steal: true }, begin);
  } finally {
    stopWatching();
  }
}

const ofPage = new Map<string, Promise<unknown>>();

function inTurnHere<T>(name: string, work: () => Promise<T>): Promise<T> {
  const next = (ofPage.get(name) ?? Promise.resolve()).then(work);
  ofPage.set(
    name,
    next.catch(() => {}),
  );
  return next;
}

/**
 * One after the other, in all tabs of this origin. Pages without TLS have no locks, and if storage is blocked they are
 * refused; then this holds only within the page. `signal` ends the wait, and the work then never begins.
 */
export async function inLock<T>(
  name: string,
  work: (held: Held) => Promise<T>,
  { signal }: { signal?: AbortSignal } = {},
): Promise<T> {
  let isHeld = false;
  const begin = (held: Held): Promise<T> => {
    isHeld = true;
    return work(held);
  };
  try {
    return await withLock(name, begin, signal && { signal });
  } catch (error) {
    if (isHeld || signal?.aborted) throw error;
    return inTurnHere(name, () => work(HELD_ALONE));
  }
}
