/*
 * Tells pages whether the holder of a lock still lives. A browser may freeze a page, or a page may be blocked, while it holds
 * a lock that others wait for. The browser does not end such a lock. A message wakes a page that only has its timers
 * throttled, so each holder answers one.
 */

/** How often a page that waits asks, and how many questions without an answer mean that the holder does not move. */
const ASKS_EVERY_MS = 2_000;
const MOST_UNANSWERED = 3;

type Word = { type: 'ask' | 'alive'; name: string };

/** The locks that this page holds, one entry for each time. */
const holdings = new Set<{ readonly name: string }>();
/** Called when the holder of a lock has answered. */
const waiting = new Set<{ readonly name: string; hear: () => void }>();

/** Notes that the holder of a lock lives. */
export function noteLife(name: string): void {
  for (const one of waiting) if (one.name === name) one.hear();
}

function open(): BroadcastChannel | null {
  try {
    const channel = new BroadcastChannel('baton/locks');
    channel.addEventListener('message', ({ data: { type, name } }: MessageEvent<Word>) => {
      if (type === 'alive') noteLife(name);
      if (type === 'ask' && isHeldHere(name)) channel.postMessage({ type: 'alive', name });
    });
    return channel;
  } catch {
    // The browser isolates the pages of an origin from each other.
    return null;
  }
}

let channel: BroadcastChannel | null | undefined;
const opened = (): BroadcastChannel | null => {
  channel ??= open();
  return channel;
};

const isHeldHere = (name: string): boolean => [...holdings].some((one) => one.name === name);

/** Tells all pages, this one too, that somebody who lives has the lock or takes it now. */
function tellLife(name: string): void {
  noteLife(name);
  opened()?.postMessage({ type: 'alive', name } satisfies Word);
}

/** Answers for a lock from now on, until the returned function is called. */
export function answerFor(name: string): () => void {
  opened();
  const one = { name };
  holdings.add(one);
  return () => void holdings.delete(one);
}

/**
 * Asks the holder of a lock for a sign of life, as long as the user sees this page. Calls `onDead` once if none comes. The
 * questions count, not the time: a computer that slept gives nobody time to answer. `onSilent` is called with the last
 * question, so that it can be asked in another way too. The returned function ends it.
 */
export function watchHolder(name: string, onDead: () => void, onSilent: () => void = () => {}): () => void {
  if (typeof document === 'undefined' || opened() === null) return () => {};
  let unanswered = 0;
  const one = {
    name,
    hear: () => {
      unanswered = 0;
    },
  };
  const ask = (): void => {
    // A channel does not deliver to the page that sends, so a page answers itself here.
    if (document.visibilityState !== 'visible' || isHeldHere(name)) return one.hear();
    if (unanswered === MOST_UNANSWERED) {
      end();
      // Others that wait would take the lock from this page at once.
      tellLife(name);
      return onDead();
    }
    unanswered += 1;
    opened()?.postMessage({ type: 'ask', name } satisfies Word);
    if (unanswered === MOST_UNANSWERED) onSilent();
  };
  const timer = setInterval(ask, ASKS_EVERY_MS);
  const end = (): void => {
    clearInterval(timer);
    waiting.delete(one);
  };
  waiting.add(one);
  ask();
  return end;
}
