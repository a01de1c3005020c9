import { basename, dirname } from 'node:path';
import { BatonError, isErrorCode } from '../../../contract/errors.ts';
import { type RateGroup, RATES } from '../../../contract/rates.ts';
import { rateLimitHeaders, scaledLimit } from '../../rate-limit-headers.ts';
import type { Given, ScriptDeclaration } from './script.ts';
import { scriptText } from './script-text.ts';
import type { Raw, Word } from './script-values.ts';

/** The values of the settings that a declaration names; empty if it names none. */
export type Settings<S extends string> = [S] extends [never] ? [] : [Readonly<Record<S, Word>>];

/** A script with all values that its text depends on. */
export interface BoundScript<K extends string, A, R> {
  readonly name: string;
  /** The module of the script, whose file is in the module's folder `lua`. */
  readonly module: string;
  readonly text: string;
  readonly keyCount: number;
  readonly resentAt: number;
  words: (keys: Readonly<Record<K, string>>, args: Given<A>) => Word[];
  /** Reads the whole reply. Throws the script's refusal. */
  read: (reply: readonly Raw[]) => R;
}

/** Throws a refusal of the store, as the error of the registry that it names. */
function refuse(word: string, rest: readonly unknown[], rate: RateGroup | undefined): never {
  if (!isErrorCode(word)) throw new BatonError('internal', undefined, { cause: new Error(`script answered ${word}`) });
  if (word !== 'rate_limited' || rate === undefined) throw new BatonError(word);
  const [limit = 0, resetMs = 0] = rest.map(Number);
  const resetSeconds = resetMs / 1000;
  const headers = rateLimitHeaders(rate, { limit, remaining: 0, resetSeconds });
  throw new BatonError(word, undefined, { headers, retryAfterSeconds: resetSeconds });
}

/** Returns the limit of the script's rate group (0: none) and its window, as constants. */
const constantsOf = (rate: RateGroup | undefined, scale: number): Readonly<Record<string, Word>> =>
  rate === undefined ? {} : { RATE_LIMIT: scaledLimit(rate, scale) ?? 0, WINDOW_SECONDS: RATES[rate].windowSeconds };

/** Binds a script to these values of its settings. `rateScale`: `APP_RATE_LIMIT_SCALE`. */
export function bindScript<K extends string, A, R, S extends string>(
  declaration: ScriptDeclaration<K, A, R, S>,
  publishInScript: boolean,
  [values]: Settings<S> | [],
  rateScale = 1,
): BoundScript<K, A, R> {
  const { file, keys, resentAt, settings, rate, words, read } = declaration;
  const given: Readonly<Record<string, Word>> = values ?? {};
  const missing = settings.find((name) => given[name] === undefined);
  const name = basename(file.pathname, '.lua');
  if (missing !== undefined) throw new Error(`${name} was loaded without ${missing}`);
  return {
    name,
    module: basename(dirname(dirname(file.pathname))),
    text: scriptText({
      ...declaration,
      constants: { ...constantsOf(rate, rateScale), ...declaration.constants, ...given },
      publishInScript,
    }),
    keyCount: keys.length,
    resentAt,
    words,
    read(reply) {
      const word = String(reply[0]);
      return word === 'OK' ? read(reply) : refuse(word, reply.slice(1), rate);
    },
  };
}
