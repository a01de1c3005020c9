import { english } from '../../../services/web/texts/english.ts';
import { french } from '../../../services/web/texts/french.ts';
import { german } from '../../../services/web/texts/german.ts';
import { pluralOf } from '../../../services/web/texts/plural.ts';
import { pushWords } from '../../../services/web/texts/push-words.ts';
import { spanish } from '../../../services/web/texts/spanish.ts';

describe('what the app says', () => {
  test('counts take the form that the rules of their language have for them', () => {
    const forms = { one: 'plik', few: 'pliki', many: 'plików', other: 'pliku' };
    const polish = pluralOf('pl');
    expect([1, 2, 5, 22, 25].map((count) => polish(count, forms))).toEqual([
      'plik',
      'pliki',
      'plików',
      'pliki',
      'plików',
    ]);
    expect(pluralOf('ja')(1, forms)).toBe('pliku');
    expect([english, german, french, spanish].map(({ files }) => files.count(0))).toEqual([
      '0 files',
      '0 Dateien',
      '0 fichier',
      '0 archivos',
    ]);
  });

  test('notifications speak the language of the browser, and English where there is no other', () => {
    expect(['fr-CA', 'de', 'ES', 'nl', ''].map((tag) => pushWords(tag).test)).toEqual([
      french.push.test,
      german.push.test,
      spanish.push.test,
      english.push.test,
      english.push.test,
    ]);
  });

  test('every error says what is so, and then what to do', () => {
    for (const { errors } of [english, german, french, spanish]) {
      for (const [code, said] of Object.entries(errors)) {
        expect([code, said.split(/[.?] /).length]).toEqual([code, 2]);
      }
    }
  });
});
