import type { Page } from 'playwright-core';

export const LANGUAGES = ['en', 'de', 'fr', 'es', 'it', 'nl', 'pl', 'pt-BR', 'ja', 'zh-Hans'] as const;

/** Loads the page again in a language. */
export async function useLanguage(page: Page, language: (typeof LANGUAGES)[number]): Promise<void> {
  await page.evaluate((chosen) => localStorage.setItem('baton-language', chosen), language);
  await page.reload();
  await page.locator(`html[lang="${language}"] .clipboard-card`).waitFor({ state: 'attached' });
}

/** Nothing is wider than the window, or than the box that it stands in: nobody has to move the page to the side. */
export const isTooWide = (page: Page): Promise<boolean> =>
  page.evaluate(() => {
    const boxes = [document.documentElement, ...document.querySelectorAll('.items-box, .pane-body, .card, .front')];
    return boxes.some(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth);
  });
