import type { Texts } from './english.ts';
import { englishPush } from './english-push.ts';
import { frenchPush } from './french-push.ts';
import { germanPush } from './german-push.ts';
import { spanishPush } from './spanish-push.ts';

/** The service worker has them all: it cannot load one when a notification is due. */
const WORDS: Readonly<Record<string, Texts['push']>> = {
  en: englishPush,
  de: germanPush,
  fr: frenchPush,
  es: spanishPush,
};

/** What notifications say, in the language of a tag such as `fr-CA`; in English where there is no other. */
export const pushWords = (tag: string): Texts['push'] => WORDS[tag.slice(0, 2).toLowerCase()] ?? englishPush;
