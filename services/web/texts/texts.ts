import { computed, signal } from '@preact/signals';
import { keptWords } from '../kept-words.ts';
import { english, type Texts } from './english.ts';
import { german } from './german.ts';

const LANGUAGES = { en: english, de: german } as const satisfies Record<string, Texts>;
export type Language = keyof typeof LANGUAGES;
export const LANGUAGE_NAMES: Readonly<Record<Language, string>> = { en: 'English', de: 'Deutsch' };

const KEY = 'baton-language';
const isLanguage = (text: string | null | undefined): text is Language =>
  text !== null && text !== undefined && Object.hasOwn(LANGUAGES, text);

function initial(): Language {
  const kept = keptWords.get(KEY);
  if (isLanguage(kept)) return kept;
  return navigator.languages.map((tag) => tag.slice(0, 2)).find(isLanguage) ?? 'en';
}

export const language = signal<Language>(initial());

/** The texts in the language of the person; read while something is drawn, so that it is drawn anew when that changes. */
export const texts = computed<Texts>(() => LANGUAGES[language.value]);

export function chooseLanguage(next: Language): void {
  keptWords.set(KEY, next);
  language.value = next;
}

export function errorText(code: string): string {
  const all: Readonly<Record<string, string>> = texts.value.errors;
  return all[code] ?? all.unexpected ?? '';
}
