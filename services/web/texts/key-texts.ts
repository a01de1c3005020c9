import { computed, effect, signal } from '@preact/signals';
import { englishKeys, type KeyTexts } from './english-keys.ts';
import { type Language, language, keyWords } from './texts.ts';

/** English comes with the views that need them, another language with whoever wants it. */
const LOADERS: Readonly<Record<Exclude<Language, 'en'>, () => Promise<KeyTexts>>> = {
  de: async () => (await import('./german-keys.ts')).germanKeys,
  es: async () => (await import('./spanish-keys.ts')).spanishKeys,
  fr: async () => (await import('./french-keys.ts')).frenchKeys,
  it: async () => (await import('./italian-keys.ts')).italianKeys,
  nl: async () => (await import('./dutch-keys.ts')).dutchKeys,
  pl: async () => (await import('./polish-keys.ts')).polishKeys,
  'pt-BR': async () => (await import('./portuguese-keys.ts')).portugueseKeys,
  ja: async () => (await import('./japanese-keys.ts')).japaneseKeys,
  'zh-Hans': async () => (await import('./chinese-keys.ts')).chineseKeys,
};

const loaded = signal<Partial<Record<Language, KeyTexts>>>({ en: englishKeys });

effect(() => {
  const wanted = language.value;
  if (wanted === 'en' || Object.hasOwn(loaded.peek(), wanted)) return;
  // Without the network English stays, until the next start.
  void LOADERS[wanted]().then(
    (texts) => {
      loaded.value = { ...loaded.peek(), [wanted]: texts };
    },
    () => {},
  );
});

/** The texts about keys, in the language of the user; in English until they are loaded. */
export const keyTexts = computed<KeyTexts>(() => loaded.value[language.value] ?? englishKeys);

keyWords.value = () => keyTexts.value;
