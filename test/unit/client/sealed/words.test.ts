import { publicKeysOf } from '../../../../shared/client/sealed/keys/device-keys.ts';
import { hasStated, keysOfWords, makeWords, signStatement } from '../../../../shared/client/sealed/ring/words.ts';
import { codeOf, firstRing, makePerson } from './people.ts';

test('the private keys that words give cannot be read out', async () => {
  const { enc, sig } = await keysOfWords(await makeWords());
  expect([enc.privateKey.extractable, sig.privateKey.extractable]).toEqual([false, false]);
});

// These are valid words of other lengths, from the vectors of BIP 39.
test.each([
  ['twelve', `${'abandon '.repeat(11)}about`],
  ['eighteen', `${'abandon '.repeat(17)}agent`],
])('%s words that belong together are no recovery words', async (_, words) => {
  expect(await codeOf(keysOfWords(words))).toBe('bad_words');
});

test('24 words that belong together are', async () => {
  expect(await codeOf(keysOfWords(`${'abandon '.repeat(23)}art`))).toBe('taken');
});

test('a statement without a signature, or of a member without a key, is none', async () => {
  const statement = { first: await firstRing(await makePerson('device-a')), n: 1 };
  const keys = await keysOfWords(await makeWords());
  const { sig } = await publicKeysOf(keys);
  const signed = await signStatement(statement, keys);

  expect(await hasStated(signed, statement, { sig })).toBe(true);
  for (const text of ['', '!', signed.slice(4)]) expect(await hasStated(text, statement, { sig })).toBe(false);
  for (const none of ['', '!', sig.slice(4)]) expect(await hasStated(signed, statement, { sig: none })).toBe(false);
});
