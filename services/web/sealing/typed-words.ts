import { BatonClientError } from '../../../shared/client/index.ts';
import { keysOfWords } from '../../../shared/client/sealed.ts';

/** A flaw of typed recovery words. */
export type WordsProblem =
  /** The word at this place is not in the list of words. */
  | { readonly kind: 'unknown'; readonly at: number; readonly word: string }
  | { readonly kind: 'count'; readonly count: number }
  /** All words are in the list, and the last one does not fit the others. */
  | { readonly kind: 'checksum' };

export interface TypedWords {
  readonly words: string;
  /** No flaw: these are recovery words, though perhaps of another account. */
  readonly problems: readonly WordsProblem[];
}

const COUNT = 24;
/** The most unknown words that are named. */
const MOST_NAMED = 5;
const LONGEST_NAMED = 24;

/** Splits words as people type, paste and copy them: in any case, with numbers, commas and lines, and in wide letters. */
export const wordsIn = (text: string): string[] =>
  text
    .normalize('NFKD')
    .toLowerCase()
    .split(/[^\p{L}\p{M}]+/u)
    .filter((word) => word !== '');

const haveChecksum = (words: string): Promise<boolean> =>
  keysOfWords(words).then(
    () => true,
    (error: unknown) => {
      if (error instanceof BatonClientError && error.code === 'bad_words') return false;
      throw error;
    },
  );

/** Reads typed recovery words, and says what is wrong with them. */
export async function readTypedWords(text: string): Promise<TypedWords> {
  const { wordlist } = await import('@scure/bip39/wordlists/english.js');
  const typed = wordsIn(text);
  const words = typed.join(' ');
  const problems: WordsProblem[] = typed
    .map((word, index) => ({ kind: 'unknown' as const, at: index + 1, word: word.slice(0, LONGEST_NAMED) }))
    .filter((_, index) => !wordlist.includes(typed[index] ?? ''))
    .slice(0, MOST_NAMED);
  if (typed.length !== COUNT) problems.push({ kind: 'count', count: typed.length });
  if (problems.length === 0 && !(await haveChecksum(words))) problems.push({ kind: 'checksum' });
  return { words, problems };
}
