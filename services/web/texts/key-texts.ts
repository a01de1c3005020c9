import { computed } from '@preact/signals';
import { englishKeys, type KeyTexts } from './english-keys.ts';
import { frenchKeys } from './french-keys.ts';
import { germanKeys } from './german-keys.ts';
import { spanishKeys } from './spanish-keys.ts';
import { type Language, language, keyWords } from './texts.ts';

const ALL: Readonly<Record<Language, KeyTexts>> = {
  en: englishKeys,
  de: germanKeys,
  fr: frenchKeys,
  es: spanishKeys,
};

/** The texts about keys, in the language of the user. They come in all languages with the views that need them. */
export const keyTexts = computed<KeyTexts>(() => ALL[language.value]);

keyWords.value = () => keyTexts.value;
