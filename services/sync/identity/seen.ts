/** A bounded memory of keys: the least recently used one is forgotten. */
interface Seen {
  has(key: string): boolean;
  add(key: string): void;
  delete(key: string): void;
}

export function makeSeen(capacity: number): Seen {
  /** Each with its turn; a Map iterates in the order of insertion, so that its first key is the oldest. */
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
      // To move a key costs more than to find it, and one of the newer half is far from being forgotten.
      if (turn - last >= capacity / 2) add(key);
      return true;
    },
    add,
    delete: (key) => void turns.delete(key),
  };
}
