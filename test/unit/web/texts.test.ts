import { chinese } from '../../../services/web/texts/chinese.ts';
import { chineseKeys } from '../../../services/web/texts/chinese-keys.ts';
import { dutch } from '../../../services/web/texts/dutch.ts';
import { dutchKeys } from '../../../services/web/texts/dutch-keys.ts';
import { english } from '../../../services/web/texts/english.ts';
import { englishKeys } from '../../../services/web/texts/english-keys.ts';
import { findLanguage } from '../../../services/web/texts/find-language.ts';
import { french } from '../../../services/web/texts/french.ts';
import { frenchKeys } from '../../../services/web/texts/french-keys.ts';
import { german } from '../../../services/web/texts/german.ts';
import { germanKeys } from '../../../services/web/texts/german-keys.ts';
import { italian } from '../../../services/web/texts/italian.ts';
import { italianKeys } from '../../../services/web/texts/italian-keys.ts';
import { japanese } from '../../../services/web/texts/japanese.ts';
import { japaneseKeys } from '../../../services/web/texts/japanese-keys.ts';
import { pluralOf } from '../../../services/web/texts/plural.ts';
import { polish } from '../../../services/web/texts/polish.ts';
import { polishKeys } from '../../../services/web/texts/polish-keys.ts';
import { portuguese } from '../../../services/web/texts/portuguese.ts';
import { portugueseKeys } from '../../../services/web/texts/portuguese-keys.ts';
import { pushWords } from '../../../services/web/texts/push-words.ts';
import { spanish } from '../../../services/web/texts/spanish.ts';
import { spanishKeys } from '../../../services/web/texts/spanish-keys.ts';

const ALL = {
  ...{ english, german, spanish, french, italian, dutch, polish, portuguese, japanese, chinese },
};
const KEYS = {
  ...{ english: englishKeys, german: germanKeys, spanish: spanishKeys, french: frenchKeys, italian: italianKeys },
  ...{ dutch: dutchKeys, polish: polishKeys, portuguese: portugueseKeys, japanese: japaneseKeys },
  chinese: chineseKeys,
};

/** Returns every text of a language, by its path. Functions are called with numbers or names. */
function textsOf(all: object, path = ''): [string, string][] {
  return Object.entries(all).flatMap(([key, value]) => {
    const at = `${path}.${key}`;
    if (typeof value === 'string') return [[at, value] as [string, string]];
    if (typeof value !== 'function') return textsOf(value as object, at);
    const say = value as (...words: unknown[]) => string;
    return [0, 1, 2, 5].map((count) => [`${at}(${count})`, say(count, count, count)] as [string, string]);
  });
}

describe('what the app says', () => {
  test('counts take the form that the rules of their language have for them', () => {
    const forms = { one: 'plik', few: 'pliki', many: 'plików', other: 'pliku' };
    const plural = pluralOf('pl');
    expect([1, 2, 5, 22, 25].map((count) => plural(count, forms))).toEqual([
      'plik',
      'pliki',
      'plików',
      'pliki',
      'plików',
    ]);
    expect(pluralOf('ja')(1, forms)).toBe('pliku');
    expect([0, 1, 3, 22].map((count) => polish.files.count(count))).toEqual([
      '0 plików',
      '1 plik',
      '3 pliki',
      '22 pliki',
    ]);
    expect(Object.values(ALL).map(({ files }) => files.count(0))).toEqual([
      ...['0 files', '0 Dateien', '0 archivos', '0 fichier', '0 file', '0 bestanden', '0 plików', '0 arquivo'],
      ...['ファイル 0 個', '0 个文件'],
    ]);
  });

  test('notifications speak the language of the browser, and English where there is no other', () => {
    const spoken = { 'fr-CA': french, de: german, ES: spanish, 'nl-BE': dutch, 'zh-CN': chinese, pt: portuguese };
    for (const [tag, { push }] of Object.entries(spoken)) expect([tag, pushWords(tag).test]).toEqual([tag, push.test]);
    for (const tag of ['sv', '', 'no language', 'zh-TW']) expect([tag, pushWords(tag)]).toEqual([tag, english.push]);
  });

  test('the first language of a browser that there is wins, whatever its region', () => {
    const there = ['en', 'pt-BR', 'zh-Hans', 'ja'] as const;
    expect(findLanguage(['sv-SE', 'pt-PT', 'en'], there)).toBe('pt-BR');
    expect(findLanguage(['zh-SG'], there)).toBe('zh-Hans');
    expect(findLanguage(['zh-HK', 'ja-JP'], there)).toBe('ja');
    expect(findLanguage(['tlh', '%%'], there)).toBe(null);
  });

  test.each(Object.keys(ALL) as (keyof typeof ALL)[])('%s says everything, and says it in its own words', (name) => {
    for (const [own, other] of [
      [ALL[name], english],
      [KEYS[name], englishKeys],
    ] as const) {
      const texts = textsOf(own);
      expect(
        texts.filter(([, text]) => text.trim() === '' || text !== text.trim() || text.includes('undefined')),
      ).toEqual([]);
      expect(texts.filter(([, text]) => text.includes('!') || text.includes('！'))).toEqual([]);
      if (own === other) continue;
      const theirs = new Map(textsOf(other));
      // If a long text is the same in two languages, its translation was forgotten.
      expect(texts.filter(([path, text]) => text.length > 20 && theirs.get(path) === text)).toEqual([]);
    }
  });

  test('every error says what is so, and then what to do', () => {
    for (const { errors } of Object.values(ALL)) {
      for (const [code, said] of Object.entries(errors)) {
        expect([code, said.split(/[.?] |[。？](?=.)/).length]).toEqual([code, 2]);
      }
    }
  });
});
