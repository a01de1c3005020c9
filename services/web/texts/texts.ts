import { computed, signal } from '@preact/signals';
import { keptWords } from '../kept-words.ts';
import type { KeyTexts } from './english-keys.ts';
import { english, type Texts } from './english.ts';

export type Language = 'en' | 'de' | 'fr' | 'es';
export const LANGUAGE_NAMES: Readonly<Record<Language, string>> = {
  en: 'English',
  de: 'Deutsch',
  fr: 'Français',
  es: 'Español',
};

/** English is part of the app; another language comes with whoever wants it, a fifteenth of the app each. */
const LOADERS: Readonly<Record<Language, () => Promise<Texts>>> = {
  en: async () => english,
  de: async () => (await import('./german.ts')).german,
  fr: async () => (await import('./french.ts')).french,
  es: async () => (await import('./spanish.ts')).spanish,
};

const KEY = 'baton-language';
const isLanguage = (text: string | null | undefined): text is Language =>
  text !== null && text !== undefined && Object.hasOwn(LANGUAGE_NAMES, text);

function wanted(): Language {
  const kept = keptWords.get(KEY);
  if (isLanguage(kept)) return kept;
  return navigator.languages.map((tag) => tag.slice(0, 2)).find(isLanguage) ?? 'en';
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
