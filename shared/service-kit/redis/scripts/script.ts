import type { RateGroup } from '../../../contract/rates.ts';
import { type Argument, nothing, type Raw, resentAfter, type Shape, type Word } from './script-values.ts';

/** The arguments that the caller passes. Those with the type undefined are left out. */
export type Given<A> = { readonly [N in keyof A as A[N] extends undefined ? never : N]: A[N] };

/** Constants that scripts may use as `<registry>.<name>`. */
export type Registries = Readonly<Record<string, Readonly<Record<string, Word>>>>;

interface Declared<K extends string, A, R, S extends string> {
  /** The keys, in Lua `keys.<name>`. */
  keys: readonly K[];
  /** The arguments, in Lua a local `<name>` each. */
  args?: { readonly [N in keyof A]: Argument<A[N]> };
  /** Constants, in Lua locals. They are bound when the script is loaded, so that they are not sent with each call. */
  constants?: Readonly<Record<string, Word>>;
  /** Constants from the configuration, which the loading store passes. */
  settings?: readonly S[];
  /** The reply after `OK`. */
  reply?: Shape<R>;
  /** Whether it announces. Its reply then has the announcements that were not published yet. */
  announces?: true;
  /** The rate group that it counts. In Lua its limit is RATE_LIMIT (0: none), and its window WINDOW_SECONDS. */
  rate?: RateGroup;
  /**
   * Whether it runs even while the store is at its `maxmemory`, because it removes, or what it adds is small and bounded. It
   * is not for a script that mostly reads: if its disk is full, Redis refuses a script with this flag as a whole, and any
   * other script only at its first write.
   */
  runsWhenFull?: true;
}

/** A script as its store declares it. */
export interface ScriptDeclaration<K extends string, A, R, S extends string> {
  readonly file: URL;
  readonly keys: readonly K[];
  /** The Lua expressions of the arguments, by name. */
  readonly locals: ReadonlyMap<string, string>;
  readonly constants: Readonly<Record<string, Word>>;
  readonly settings: readonly S[];
  readonly announces: boolean;
  readonly rate: RateGroup | undefined;
  readonly runsWhenFull: boolean;
  /** The registries that the text may use as `<registry>.<name>`, besides `LIMITS`. */
  readonly registries: Registries;
  /** The index of the word that says how long ago a resent call was first sent; -1 for none. */
  readonly resentAt: number;
  /** Returns keys and arguments in the order in which they are sent. */
  words: (keys: Readonly<Record<K, string>>, args: Given<A>) => Word[];
  /** Reads what follows `OK` in a reply, by name. */
  read: (reply: readonly Raw[]) => R;
}

/** Calls a loaded script. Resolves to what follows `OK`. Throws the script's refusals, and `store_unavailable`. */
export type RunScript<K extends string, A, R> = (keys: Readonly<Record<K, string>>, args: Given<A>) => Promise<R>;

/**
 * Returns a function that declares the scripts of a module by their names: `note-add` is the file `lua/note-add.lua`
 * beside `moduleUrl`. Types and Lua text are made from the arguments and the reply.
 */
export const scriptsIn =
  (moduleUrl: string, registries: Registries = {}) =>
  <const K extends string, A extends object = object, R = object, const S extends string = never>(
    name: string,
    declared: Declared<K, A, R, S>,
  ): ScriptDeclaration<K, A, R, S> => {
    const { keys, constants = {}, settings = [], announces = false, rate, runsWhenFull = false } = declared;
    const args = declared.args ?? ({} as NonNullable<typeof declared.args>);
    const reply = declared.reply ?? (nothing as Shape<R>);
    const names = Object.keys(args) as (keyof A & string)[];
    const kinds = names.map((each) => args[each]);
    const locals = names.map((each, i) => {
      const number = i + 1;
      return [each, args[each].lua(`ARGV[${number}]`, number)] as const;
    });
    const place = kinds.findIndex((kind: Argument<never>) => kind === resentAfter);
    return {
      file: new URL(`./lua/${name}.lua`, moduleUrl),
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
