import { makeWords } from '../../../shared/client/sealed/ring/words.ts';
import { readTypedWords, wordsIn } from '../../../services/web/sealing/typed-words.ts';

const ABOUT = Array.from({ length: 23 }, () => 'abandon');
/** The words of 32 zero bytes (BIP 39). */
const WORDS = [...ABOUT, 'art'].join(' ');

test.each([
  [
    'numbers, capital letters, lines and commas',
    WORDS.split(' ')
      .map((word, at) => `${at + 1}. ${word.toUpperCase()},\n`)
      .join(''),
  ],
  [
    'wide letters and wide spaces, as a Japanese keyboard types them',
    WORDS.replaceAll(/[a-z]/g, (one) => String.fromCodePoint((one.codePointAt(0) ?? 0) + 0xfee0)).replaceAll(
      ' ',
      '\u3000',
    ),
  ],
])('recovery words are read with %s', async (_, typed) => {
  expect(await readTypedWords(typed)).toEqual({ words: WORDS, problems: [] });
});

test('each word that is in no list is named with its place, and the number of words where it is wrong', async () => {
  const { problems } = await readTypedWords(`abandon hosue art ${'x'.repeat(99)}`);
  expect(problems).toEqual([
    { kind: 'unknown', at: 2, word: 'hosue' },
    { kind: 'unknown', at: 4, word: 'x'.repeat(24) },
    { kind: 'count', count: 4 },
  ]);
  expect((await readTypedWords('')).problems).toEqual([{ kind: 'count', count: 0 }]);
  expect((await readTypedWords('zzz '.repeat(1_000))).problems).toHaveLength(6);
});

test('words of the list that do not fit together are told from words of an account', async () => {
  expect((await readTypedWords([...ABOUT, 'abandon'].join(' '))).problems).toEqual([{ kind: 'checksum' }]);
  expect((await readTypedWords(await makeWords())).problems).toEqual([]);
});

test('marks stay with their letter', () => {
  expect(wordsIn('Été art')).toEqual(['e\u0301te\u0301', 'art']);
});
