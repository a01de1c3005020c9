import { randomInt } from 'node:crypto';

/** What goes to the store. */
export type Word = string | number;

/** What a script answers with, as the client libraries hand it on: Lua's numbers, `true` (1), `false` (null), tables. */
export type Raw = string | number | null | readonly Raw[];

/** One argument of a script: what is sent of a value, and what Lua makes of it. */
export interface Argument<T> {
  /** The Lua expression, given that of the argument and its number. */
  lua: (argument: string, number: number) => string;
  /** Several only of the last one. */
  word: (value: T) => Word | readonly Word[];
}

/** One element of a script's answer. */
export interface Answer<T> {
  read: (raw: Raw | undefined) => T;
  /** It is all that is left of the answer. */
  isRest?: true;
}

const asItIs = (argument: string): string => argument;
const textOf = (raw: Raw | undefined): string => (typeof raw === 'string' ? raw : String(raw ?? ''));
const listOf = (raw: Raw | undefined): readonly Raw[] => (Array.isArray(raw) ? (raw as readonly Raw[]) : []);

export const text: Argument<string> & Answer<string> = { lua: asItIs, word: (value) => value, read: textOf };

/** A number with which the script counts. */
export const number: Argument<number> & Answer<number> = {
  lua: (argument) => `tonumber(${argument})`,
  word: (value) => value,
  read: (raw) => Number(raw ?? 0),
};

/** A number that the script only writes, and does not count with: it stays a text there. */
export const digits: Argument<number> = { lua: asItIs, word: (value) => value };

/** The same; null is sent as ''. */
export const maybeDigits: Argument<number | null> = { lua: asItIs, word: (value) => value ?? '' };

/** Null is sent, and told, as ''; in Lua it is nil. */
export const maybeNumber: Argument<number | null> & Answer<number | null> = {
  lua: (argument) => `tonumber(${argument})`,
  word: (value) => value ?? '',
  read: (raw) => (raw === '' || raw === null || raw === undefined ? null : Number(raw)),
};

/** Null is sent, and told, as ''; in Lua it is ''. */
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

/** One of these words; nothing else is sent, or believed. */
export const oneOf = <const W extends string>(...words: readonly W[]): Argument<W> & Answer<W> => ({
  lua: asItIs,
  word: (value) => value,
  read: (raw) => {
    const found = words.find((word) => word === raw);
    if (found === undefined) throw new Error(`a script answered ${textOf(raw)}, not one of ${words.join(', ')}`);
    return found;
  },
});

/** Words without line ends, or such a list joined by line ends; in Lua a set of them. */
export const wordSet: Argument<string | readonly string[]> = {
  lua: (argument) => `set_of(${argument})`,
  word: (value) => (typeof value === 'string' ? value : value.join('\n')),
};

/** All that is left: a list in Lua. */
export const restOfWords: Argument<readonly Word[]> = {
  lua: (_, index) => `rest_from(${index})`,
  word: (value) => value,
};

/** 32 random bits, which make a position unique across failovers. The caller does not give them. */
export const randomBits: Argument<undefined> = { lua: asItIs, word: () => randomInt(0, 2 ** 32) };

/**
 * How long ago, in ms, this very call was first made, when it is made again: its connection was lost, and it may have
 * been carried out. Nil the first time. The caller does not give it: the script loader fills it in.
 */
export const resentAfter: Argument<undefined> = { lua: (argument) => `tonumber(${argument})`, word: () => '' };

/** Not copied: what Redis itself told, which is text. */
export const textList: Answer<string[]> = { read: (raw) => (raw || []) as string[] };

/** Joined by line ends into a text, which costs the store less than a table; '' where there is nothing. */
export const lines = <T>({ read }: Answer<T>): Answer<T> => ({
  read: (raw) => read(typeof raw === 'string' && raw !== '' ? raw.split('\n') : []),
});

/** Null where there is nothing. */
export const json = <T>(): Answer<T | null> => ({
  read: (raw) => (typeof raw === 'string' && raw !== '' ? (JSON.parse(raw) as T) : null),
});

/** Nested, or all that is left of the answer. */
export const rest = <T>({ read }: Answer<T>): Answer<T> => ({ read, isRest: true });

/** Null where the element is missing. */
export const absentOr = <T>({ read }: Answer<T>): Answer<T | null> => ({
  read: (raw) => (raw === undefined || raw === null ? null : read(raw)),
});

/** name, value, name, value, ..., as an object or as a map. */
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

/** The elements of an answer in their order, by name. */
export type Members<R> = { readonly [N in keyof R]: Answer<R[N]> };

/** How a whole answer, or a table in it, is read. */
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

/** Records one after another in one flat table. */
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

/** The first element, `tag`, says which of these the others are. */
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
