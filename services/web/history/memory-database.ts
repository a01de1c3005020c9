import { type Database, STORES } from './database.ts';

/*
 * The history in memory, as long as the page is open, for browsers that store nothing for pages. It implements the part of
 * the database that the history uses, on plain maps.
 */
type Key = string | number | Key[];
type Row = Record<string, Key>;

/** Compares keys in the order of IndexedDB, for strings, numbers and lists of both. */
function compare(one: Key, other: Key): number {
  if (Array.isArray(one) && Array.isArray(other)) {
    const at = one.findIndex((part, i) => i >= other.length || compare(part, other[i] as Key) !== 0);
    return at === -1 ? one.length - other.length : at >= other.length ? 1 : compare(one[at] as Key, other[at] as Key);
  }
  return one < other ? -1 : one > other ? 1 : 0;
}

interface Cursor {
  readonly value: unknown;
  delete(): Promise<void>;
  continue(): Promise<Cursor | null>;
}

function makeStore(keyPath: string | null, indexes: Readonly<Record<string, string | string[]>>) {
  const rows = new Map<string, unknown>();
  const keyIn = (row: unknown, path: string | string[]): Key =>
    typeof path === 'string' ? ((row as Row)[path] as Key) : path.map((part) => (row as Row)[part] as Key);

  const sorted = (path: string | string[], range: IDBKeyRange) =>
    [...rows]
      .filter(([, row]) => range.includes(keyIn(row, path)))
      .map(([key, row]) => [key, structuredClone(row)] as const)
      .sort(([a, one], [b, other]) => compare(keyIn(one, path), keyIn(other, path)) || compare(a, b));

  function cursorAt(found: readonly (readonly [string, unknown])[], at: number): Cursor | null {
    const entry = found[at];
    if (entry === undefined) return null;
    const [key, value] = entry;
    return {
      value,
      delete: async () => void rows.delete(key),
      continue: async () => cursorAt(found, at + 1),
    };
  }

  return {
    get: async (key: string) => structuredClone(rows.get(key)),
    getAll: async () => structuredClone([...rows.values()]),
    getAllKeys: async () => [...rows.keys()],
    async put(value: unknown, key?: string) {
      rows.set(keyPath === null ? (key ?? '') : String(keyIn(value, keyPath)), structuredClone(value));
    },
    delete: async (key: string) => void rows.delete(key),
    index(name: string) {
      const path = indexes[name] ?? '';
      return {
        get: async (wanted: Key) =>
          structuredClone([...rows.values()].find((row) => compare(keyIn(row, path), wanted) === 0)),
        async openCursor(range: IDBKeyRange, direction: 'next' | 'prev' = 'next') {
          const found = sorted(path, range);
          return cursorAt(direction === 'prev' ? found.reverse() : found, 0);
        },
        getAll: async (range: IDBKeyRange) => sorted(path, range).map(([, row]) => row),
      };
    },
  };
}

/** Makes a database in memory. It has the type of a real one, and the members that `history.ts` uses. */
export function memoryDatabase(): Database {
  const stores = new Map(
    Object.entries(STORES).map(([name, { keyPath, indexes }]) => [name, makeStore(keyPath, indexes)]),
  );
  const storeOf = (name: string) => {
    const found = stores.get(name);
    if (found === undefined) throw new Error(`There is no store ${name}`);
    return found;
  };
  const database = {
    get: (name: string, key: string) => storeOf(name).get(key),
    getAll: (name: string) => storeOf(name).getAll(),
    getAllKeys: (name: string) => storeOf(name).getAllKeys(),
    getFromIndex: (name: string, index: string, key: string) => storeOf(name).index(index).get(key),
    getAllFromIndex: (name: string, index: string, range: IDBKeyRange) => storeOf(name).index(index).getAll(range),
    put: (name: string, value: unknown, key?: string) => storeOf(name).put(value, key),
    delete: (name: string, key: string) => storeOf(name).delete(key),
    transaction: (names: string | string[]) => ({
      store: storeOf(String([names].flat()[0])),
      objectStore: storeOf,
      done: Promise.resolve(),
    }),
    close: () => {},
  };
  return database as unknown as Database;
}
