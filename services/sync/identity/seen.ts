/** A bounded memory of keys: the least recently used one is forgotten. */
interface Seen {
  has(key: string): boolean;
  add(key: string): void;
  delete(key: string): void;
}

export function makeSeen(capacity: number): Seen {
  // A Set iterates in the order of insertion, so that its first member is the oldest.
  const keys = new Set<string>();
  const add = (key: string): void => {
    keys.delete(key);
    keys.add(key);
    for (const oldest of keys) {
      if (keys.size <= capacity) return;
      keys.delete(oldest);
    }
  };
  return {
    has(key) {
      if (!keys.has(key)) return false;
      add(key);
      return true;
    },
    add,
    delete: (key) => void keys.delete(key),
  };
}
