import { randomInt } from 'node:crypto';

/** A value that is sent to the store. */
export type Word = string | number;

/** A reply of a script, as the client library returns it: Lua's numbers, `true` (1), `false` (null), tables. */
export type Raw = string | number | null | readonly Raw[];

/** One argument of a script: the words sent for a value, and their conversion in Lua. */
export interface Argument<T> {
  /** Returns the Lua expression, from that of the argument and its number. */
  lua: (argument: string, number: number) => string;
  /** Returns the words to send. Only the last argument may send several. */
  word: (value: T) => Word | readonly Word[];
}

/** One element of a script's reply. */
export interface Answer<T> {
  read: (raw: Raw | undefined) => T;
  /** Whether it is the whole rest of the reply. */
  isRest?: true;
}

const asItIs = (argument: string): string => argument;
const textOf = (raw: Raw | undefined): string => (typeof raw === 'string' ? raw : String(raw ?? ''));
const listOf = (raw: Raw | undefined): readonly Raw[] => (Array.isArray(raw) ? (raw as readonly Raw[]) : []);

export const text: Argument<string> & Answer<string> = { lua: asItIs, word: (value) => value, read: textOf };

/** A number that the script calculates with. */
export const number: Argument<number> & Answer<number> = {
  lua: (argument) => `tonumber(${argument})`,
  word: (value) => value,
  read: (raw) => Number(raw ?? 0),
};

/** A number that the script only writes, so that it stays a text there. */
export const digits: Argument<number> = { lua: asItIs, word: (value) => value };

/** A number that the script only writes, or null, which is sent as ''. */
export const maybeDigits: Argument<number | null> = { lua: asItIs, word: (value) => value ?? '' };

/** A number, or null, which is sent and returned as ''. In Lua it is nil. */
export const maybeNumber: Argument<number | null> & Answer<number | null> = {
  lua: (argument) => `tonumber(${argument})`,
  word: (value) => value ?? '',
  read: (raw) => (raw === '' || raw === null || raw === undefined ? null : Number(raw)),
};

/** A text, or null, which is sent and returned as ''. In Lua it is ''. */
export const maybeText: Argument<string | null> & Answer<string | null> = {
  lua: asItIs,
  word: (value) => value ?? '',
  read: (raw) => textOf(raw) || null,
};

export const flag: Argument<boolean> & Answer<boolean> = {
  lua: (argument) => `${argument} == '1'`,
  word: (value) => (value ? '1' : '0'),
  read: (raw) => raw === '1' || raw === 1,
};

/** One of these words. Nothing else is sent or accepted. */
export const oneOf = <const W extends string>(...words: readonly W[]): Argument<W> & Answer<W> => ({
  lua: asItIs,
  word: (value) => value,
  read: (raw) => {
    const found = words.find((word) => word === raw);
    if (found === undefined) throw new Error(`a script answered ${textOf(raw)}, not one of ${words.join(', ')}`);
    return found;
  },
});

/** Words without line ends, or such words joined by line ends. In Lua they are a set. */
export const wordSet: Argument<string | readonly string[]> = {
  lua: (argument) => `set_of(${argument})`,
  word: (value) => (typeof value === 'string' ? value : value.join('\n')),
};

/** The rest of the arguments, a list in Lua. */
export const restOfWords: Argument<readonly Word[]> = {
  lua: (_, index) => `rest_from(${index})`,
  word: (value) => value,
};

/** 32 random bits, which make a position unique across failovers. The caller does not pass them. */
export const randomBits: Argument<undefined> = { lua: asItIs, word: () => randomInt(0, 2 ** 32) };

/**
 * How many ms ago this call was first made, if it is resent. Its connection was lost, and the call may have been carried
 * out. It is nil the first time. The caller does not pass it; the script loader fills it in.
 */
export const resentAfter: Argument<undefined> = { lua: (argument) => `tonumber(${argument})`, word: () => '' };

/** A list of texts. It is not copied, because everything that comes from Redis itself is text. */
export const textList: Answer<string[]> = { read: (raw) => (raw || []) as string[] };

/** A list that is joined by line ends into one text, which costs the store less than a table; '' for none. */
export const lines = <T>({ read }: Answer<T>): Answer<T> => ({
  read: (raw) => read(typeof raw === 'string' && raw !== '' ? raw.split('\n') : []),
});

/** A value as JSON; null for ''. */
export const json = <T>(): Answer<T | null> => ({
  read: (raw) => (typeof raw === 'string' && raw !== '' ? (JSON.parse(raw) as T) : null),
});

/** The rest of the reply as one element. */
export const rest = <T>({ read }: Answer<T>): Answer<T> => ({ read, isRest: true });

/** An element; null if it is missing. */
export const absentOr = <T>({ read }: Answer<T>): Answer<T | null> => ({
  read: (raw) => (raw === undefined || raw === null ? null : read(raw)),
});

/** A list of name, value, name, value, ... as an object. */
export const fields: Answer<Readonly<Record<string, string>>> = {
  read: (raw) => {
    const flat = listOf(raw);
    const found: Record<string, string> = {};
    for (let i = 0; i + 1 < flat.length; i += 2) found[textOf(flat[i])] = textOf(flat[i + 1]);
    return found;
  },
};

export const fieldMap: Answer<Map<string, string>> = {
  read: (raw) => {
    const flat = listOf(raw);
    const map = new Map<string, string>();
    for (let i = 0; i + 1 < flat.length; i += 2) map.set(textOf(flat[i]), textOf(flat[i + 1]));
    return map;
  },
};

/** The elements of a reply by name, in their order. */
export type Members<R> = { readonly [N in keyof R]: Answer<R[N]> };

/** The form of a whole reply, or of a table in it. */
export interface Shape<R> {
  readonly members: number;
  from: (raw: readonly Raw[], start: number) => R;
}

export function record<R extends object>(members: Members<R>): Shape<R> {
  const names = Object.keys(members) as (keyof R)[];
  const answers = names.map((name) => members[name]);
  return {
    members: names.length,
    from: (raw, start) => {
      const found: Partial<R> = {};
      for (let i = 0; i < names.length; i++) {
        const { read, isRest } = answers[i] as Answer<R[keyof R]>;
        found[names[i] as keyof R] = read(isRest ? raw.slice(start + i) : raw[start + i]);
      }
      return found as R;
    },
  };
}

/** A list of records, one after another in one flat table. */
export const rows = <R extends object>(members: Members<R>): Answer<R[]> => {
  const shape = record(members);
  return {
    read: (raw) => {
      const flat = listOf(raw);
      const found: R[] = [];
      for (let i = 0; i < flat.length; i += shape.members) found.push(shape.from(flat, i));
      return found;
    },
  };
};

type Variant<T extends string, V> = { [N in keyof V]: { readonly [P in T]: N } & V[N] }[keyof V];

/** A reply whose first element, `tag`, says which of these forms the others have. */
export function variants<const T extends string, V extends object>(
  tag: T,
  cases: { readonly [N in keyof V]: Members<V[N]> },
): Shape<Variant<T, V>> {
  const shapes = new Map<Raw, Shape<object>>();
  for (const name in cases) shapes.set(name, record({ [tag]: text, ...(cases[name] as Members<object>) }));
  return {
    members: 0,
    from: (raw, start) => {
      const word = raw[start] ?? '';
      const shape = shapes.get(word);
      if (shape === undefined) throw new Error(`a script answered ${textOf(word)}`);
      return shape.from(raw, start) as Variant<T, V>;
    },
  };
}

export const nothing: Shape<object> = record({});
