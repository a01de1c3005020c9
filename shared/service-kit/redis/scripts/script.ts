import type { RateGroup } from '../../../contract/rates.ts';
import { type Argument, type Raw, resentAfter, type Shape, type Word } from './script-values.ts';

/** Arguments whose value the caller does not give may be left out. */
export type Given<A> = { readonly [N in keyof A as A[N] extends undefined ? never : N]: A[N] };

/** Constants by name that scripts may write as `<registry>.<name>`. */
export type Registries = Readonly<Record<string, Readonly<Record<string, Word>>>>;

interface Declared<K extends string, A, R, S extends string> {
  /** The Lua file beside the declaration. */
  file: URL;
  /** In Lua: `keys.<name>`. */
  keys: readonly K[];
  /** In Lua: a local of each, `<name>`. */
  args: { readonly [N in keyof A]: Argument<A[N]> };
  /** In Lua: locals. Bound when the script is loaded, so that they are not sent with each call. */
  constants?: Readonly<Record<string, Word>>;
  /** Constants that the loading store knows: configuration. */
  settings?: readonly S[];
  /** What follows `OK`. */
  reply: Shape<R>;
  /** It announces: its caller hears what nobody has heard yet. */
  announces?: true;
  /** The rate group that it counts. */
  rate?: RateGroup;
  /**
   * Runs also while the store is at its `maxmemory`: it removes, or what it adds is small and bounded. Not for a script that mostly
   * reads: Redis refuses one that says so as a whole when its disk is full, and any other at its first write.
   */
  runsWhenFull?: true;
}

/** A script as its store declares it. */
export interface ScriptDeclaration<K extends string, A, R, S extends string> {
  readonly file: URL;
  readonly keys: readonly K[];
  /** Lua expressions of the arguments, by name. */
  readonly locals: ReadonlyMap<string, string>;
  readonly constants: Readonly<Record<string, Word>>;
  readonly settings: readonly S[];
  readonly announces: boolean;
  readonly rate: RateGroup | undefined;
  readonly runsWhenFull: boolean;
  /** What the text may name as `<registry>.<name>`, beside `LIMITS`. */
  readonly registries: Registries;
  /** Which of the words says how long ago the call was first sent, if it is sent again; -1: none does. */
  readonly resentAt: number;
  /** Keys and arguments in the order in which they are sent. */
  words: (keys: Readonly<Record<K, string>>, args: Given<A>) => Word[];
  /** What follows `OK` in an answer, by name. */
  read: (reply: readonly Raw[]) => R;
}

/** Calls a loaded script. Resolves to what follows `OK`; throws what the script refuses with, and `store_unavailable`. */
export type RunScript<K extends string, A, R> = (keys: Readonly<Record<K, string>>, args: Given<A>) => Promise<R>;

/** Gives what declares the scripts of a service: what one takes and answers with, which the compiler and its text follow. */
export const scriptsThatName =
  (registries: Registries) =>
  <const K extends string, A extends object, R, const S extends string = never>(
    declared: Declared<K, A, R, S>,
  ): ScriptDeclaration<K, A, R, S> => {
    const {
      file,
      keys,
      args,
      constants = {},
      settings = [],
      reply,
      announces = false,
      rate,
      runsWhenFull = false,
    } = declared;
    const names = Object.keys(args) as (keyof A & string)[];
    const kinds = names.map((name) => args[name]);
    const locals = names.map((name, i) => {
      const number = i + 1;
      return [name, args[name].lua(`ARGV[${number}]`, number)] as const;
    });
    const place = kinds.findIndex((kind: Argument<never>) => kind === resentAfter);
    return {
      file,
      keys,
      resentAt: place === -1 ? -1 : keys.length + place,
      locals: new Map(locals),
      constants,
      settings,
      announces,
      rate,
      runsWhenFull,
      registries,
      words(keysByName, values) {
        const words: Word[] = [];
        for (const key of keys) words.push(keysByName[key]);
        const given = values as A;
        for (let i = 0; i < names.length; i++) {
          const word = (kinds[i] as Argument<A[keyof A & string]>).word(given[names[i] as keyof A & string]);
          if (typeof word === 'object') words.push(...word);
          else words.push(word);
        }
        return words;
      },
      read: (raw) => reply.from(raw, 1),
    };
  };

/** Declares a Lua script that names nothing but `LIMITS`. */
export const defineScript = scriptsThatName({});
