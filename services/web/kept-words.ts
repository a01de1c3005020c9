/*
 * Small texts that a browser keeps for this origin. One that lets pages keep nothing (blocked cookies, some private windows)
 * throws at each touch, and one that is full throws at each write: then they are kept as long as the page is open.
 */
export interface KeptWords {
  get(key: string): string | null;
  /** Null removes it. */
  set(key: string, value: string | null): void;
  /** The keys that begin so. */
  keys(prefix: string): string[];
}

function makeKept(find: () => Storage): KeptWords {
  /** The words that the browser did not take; null: those that it did not let this page remove. */
  const ofPage = new Map<string, string | null>();

  function tried<T>(work: (storage: Storage) => T, otherwise: T): T {
    try {
      return work(find());
    } catch {
      return otherwise;
    }
  }

  return {
    get: (key) => ofPage.get(key) ?? (ofPage.has(key) ? null : tried((storage) => storage.getItem(key), null)),
    set(key, value) {
      const isKept = tried((storage) => {
        if (value === null) storage.removeItem(key);
        else storage.setItem(key, value);
        return true;
      }, false);
      if (isKept) ofPage.delete(key);
      else ofPage.set(key, value);
    },
    keys(prefix) {
      const stored = tried((storage) => Object.keys(storage), []);
      const known = new Set([...stored, ...ofPage.keys()]);
      return [...known].filter((key) => key.startsWith(prefix) && ofPage.get(key) !== null);
    },
  };
}

/** For all tabs, over days. */
export const keptWords = makeKept(() => localStorage);
/** For this tab, over a reload. */
export const tabWords = makeKept(() => sessionStorage);
