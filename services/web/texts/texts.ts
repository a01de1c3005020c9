import { computed, signal } from '@preact/signals';
import { keptWords } from '../kept-words.ts';
import type { KeyTexts } from './english-keys.ts';
import { english, type Texts } from './english.ts';
import { findLanguage } from './find-language.ts';

/** The tags of the languages, as browsers and `Intl` know them. */
export type Language = 'en' | 'de' | 'es' | 'fr' | 'it' | 'nl' | 'pl' | 'pt-BR' | 'ja' | 'zh-Hans';

/** The names of the languages, each in its own words. */
export const LANGUAGE_NAMES: Readonly<Record<Language, string>> = {
  en: 'English',
  de: 'Deutsch',
  es: 'Español',
  fr: 'Français',
  it: 'Italiano',
  nl: 'Nederlands',
  pl: 'Polski',
  'pt-BR': 'Português (Brasil)',
  ja: '日本語',
  'zh-Hans': '简体中文',
};

/** English is part of the app; another language comes with whoever wants it, a fifteenth of the app each. */
const LOADERS: Readonly<Record<Language, () => Promise<Texts>>> = {
  en: async () => english,
  de: async () => (await import('./german.ts')).german,
  es: async () => (await import('./spanish.ts')).spanish,
  fr: async () => (await import('./french.ts')).french,
  it: async () => (await import('./italian.ts')).italian,
  nl: async () => (await import('./dutch.ts')).dutch,
  pl: async () => (await import('./polish.ts')).polish,
  'pt-BR': async () => (await import('./portuguese.ts')).portuguese,
  ja: async () => (await import('./japanese.ts')).japanese,
  'zh-Hans': async () => (await import('./chinese.ts')).chinese,
};

const KEY = 'baton-language';
const isLanguage = (text: string | null | undefined): text is Language =>
  text !== null && text !== undefined && Object.hasOwn(LANGUAGE_NAMES, text);

function wanted(): Language {
  const kept = keptWords.get(KEY);
  if (isLanguage(kept)) return kept;
  return findLanguage(navigator.languages, Object.keys(LANGUAGE_NAMES) as Language[]) ?? 'en';
}

const shown = signal<{ language: Language; texts: Texts }>({ language: 'en', texts: english });

export const language = computed<Language>(() => shown.value.language);

/** The texts in the language of the person; read while something is drawn, so that it is drawn anew when that changes. */
export const texts = computed<Texts>(() => shown.value.texts);

async function show(next: Language): Promise<void> {
  shown.value = { language: next, texts: await LOADERS[next]() };
}

/** Before anything is drawn. A language that cannot be loaded now is there with the next start. */
export const startLanguage = (): Promise<void> => show(wanted()).catch(() => {});

export async function chooseLanguage(next: Language): Promise<void> {
  keptWords.set(KEY, next);
  await show(next);
}

/** The texts about keys; null until they are loaded, which they are where this browser has keys. */
export const keyWords = signal<() => KeyTexts | null>(() => null);

export function errorText(code: string): string {
  const all: Readonly<Record<string, string>> = texts.value.errors;
  const ofKeys: Readonly<Record<string, string>> | undefined = keyWords.value()?.errors;
  return all[code] ?? ofKeys?.[code] ?? all.unexpected ?? '';
}
