import { effect, signal } from '@preact/signals';
import { keptWords } from '../kept-words.ts';

export type Theme = 'system' | 'light' | 'dark';
export const THEMES: readonly Theme[] = ['system', 'light', 'dark'];

const KEY = 'baton-theme';
/** The colours of the head of the page, for the bars of a telephone. */
const GROUNDS = { light: '#f5f6f8', dark: '#13161b' };

const kept = (): Theme => THEMES.find((one) => one === keptWords.get(KEY)) ?? 'system';

export const theme = signal<Theme>(kept());

export function chooseTheme(next: Theme): void {
  keptWords.set(KEY, next === 'system' ? null : next);
  theme.value = next;
}

/** Applies the chosen theme from now on, including the choices of other tabs. */
export function startTheme(): void {
  const metas = [...document.querySelectorAll<HTMLMetaElement>('meta[name="theme-color"]')];
  const own = metas.map(({ content }) => content);
  effect(() => {
    const chosen = theme.value;
    // Every colour is a `light-dark()`, which follows this property.
    document.documentElement.style.colorScheme = chosen === 'system' ? '' : chosen;
    for (const [i, meta] of metas.entries()) meta.content = chosen === 'system' ? (own[i] ?? '') : GROUNDS[chosen];
  });
  addEventListener('storage', ({ key }) => {
    if (key === KEY) theme.value = kept();
  });
}
