import type { Page } from 'playwright-core';

export const LANGUAGES = ['en', 'de', 'fr', 'es', 'it', 'nl', 'pl', 'pt-BR', 'ja', 'zh-Hans'] as const;

/** Loads the page again in a language. */
export async function useLanguage(page: Page, language: (typeof LANGUAGES)[number]): Promise<void> {
  await page.evaluate((chosen) => localStorage.setItem('baton-language', chosen), language);
  await page.reload();
  await page.locator(`html[lang="${language}"] .clipboard-card`).waitFor({ state: 'attached' });
}

/** Tells whether anything is wider than the window, or than its box, so that one would have to scroll sideways. */
export const isTooWide = (page: Page): Promise<boolean> =>
  page.evaluate(() => {
    const boxes = [document.documentElement, ...document.querySelectorAll('.items-box, .pane-body, .card, .front')];
    return boxes.some(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth);
  });
