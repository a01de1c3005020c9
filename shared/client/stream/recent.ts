/** Remembers the last `limit` words, and forgets the oldest first. */
export interface Recent {
  /** Remembers the word. True when it was new. */
  add(word: string): boolean;
  has(word: string): boolean;
}

export function makeRecent(limit: number): Recent {
  // A Set iterates in the order of insertion: its first element is the oldest.
  const words = new Set<string>();
  return {
    has: (word) => words.has(word),
    add(word) {
      if (words.has(word)) return false;
      words.add(word);
      if (words.size > limit) words.delete(words.values().next().value as string);
      return true;
    },
  };
}
