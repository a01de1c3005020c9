import { chinesePush } from './chinese-push.ts';
import { dutchPush } from './dutch-push.ts';
import type { Texts } from './english.ts';
import { englishPush } from './english-push.ts';
import { findLanguage } from './find-language.ts';
import { frenchPush } from './french-push.ts';
import { germanPush } from './german-push.ts';
import { italianPush } from './italian-push.ts';
import { japanesePush } from './japanese-push.ts';
import { polishPush } from './polish-push.ts';
import { portuguesePush } from './portuguese-push.ts';
import { spanishPush } from './spanish-push.ts';
import type { Language } from './texts.ts';

/** The service worker has them all: it cannot load one when a notification is due. */
const WORDS: Readonly<Record<Language, Texts['push']>> = {
  en: englishPush,
  de: germanPush,
  es: spanishPush,
  fr: frenchPush,
  it: italianPush,
  nl: dutchPush,
  pl: polishPush,
  'pt-BR': portuguesePush,
  ja: japanesePush,
  'zh-Hans': chinesePush,
};

/** What notifications say, in the language of a tag such as `fr-CA`; in English where there is no other. */
export const pushWords = (tag: string): Texts['push'] =>
  WORDS[findLanguage([tag], Object.keys(WORDS) as Language[]) ?? 'en'];
