/** A bounded set of keys that forgets the least recently used one. */
interface Seen {
  has(key: string): boolean;
  add(key: string): void;
  delete(key: string): void;
}

export function makeSeen(capacity: number): Seen {
  /** The turn of each key. A Map iterates in the order of insertion, so its first key is the oldest. */
  const turns = new Map<string, number>();
  let turn = 0;
  const add = (key: string): void => {
    turn += 1;
    turns.delete(key);
    turns.set(key, turn);
    for (const oldest of turns.keys()) {
      if (turns.size <= capacity) return;
      turns.delete(oldest);
    }
  };
  return {
    has(key) {
      const last = turns.get(key);
      if (last === undefined) return false;
      // Moving a key costs more than finding it, and a key of the newer half is far from being forgotten.
      if (turn - last >= capacity / 2) add(key);
      return true;
    },
    add,
    delete: (key) => void turns.delete(key),
  };
}
